"""What is said in `bench turns`, and where the speaker stops. All but MT-Bench's questions was written for it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Saying:
    """Something that is said with pauses: `parts` in order, a pause between each two. `kind` tells where they are:
    `clause` in the middle of a clause, `um` behind a filled hesitation, `phrase` where one of them has a whole question
    or request before it, `statement` between a statement and the question or request about it; `whole` is a question
    or a request without a pause, and `plain` a statement that is all, with a pause in a clause or none.
    """

    kind: str
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of it, without the pauses."""
        return " ".join(self.parts)


def _sayings(kind: str, *texts: str) -> list[Saying]:
    """`|` is a pause, and `|*` one that has a whole question or request before it, whatever else is in the text."""
    return [
        Saying("phrase" if "|*" in text else kind, tuple(part.strip() for part in text.replace("|*", "|").split("|")))
        for text in texts
    ]


SAYINGS: tuple[Saying, ...] = (
    *_sayings(
        "clause",
        "What is the | capital of | Australia?",
        "How many people | live in Norway?",
        "Can you tell me | how a | refrigerator works?",
        "Why does the | moon change its shape?",
        "Who wrote the | opera about the barber of Seville?",
        "Tell me something |* about the history of | chess.",
        "Where can I | find good bread in this town?",
        "Explain the difference between | a virus and | a bacterium.",
        "Is it true that | cats always land on their feet?",
        "How do I | remove a red wine stain from | a white shirt?",
        "What would happen if the | earth stopped spinning?",
        "Could you please | give me a recipe for | onion soup?",
        "When was the first | railway opened?",
        "Translate good morning into | Italian and | Portuguese.",
        "How far is it from | London to | Edinburgh?",
        "I would like to know | how vaccines work.",
        "Which planet has the | most moons?",
        "Write a short poem about | the sea in winter.",
        "Does anybody know why | leaves turn red in | autumn?",
        "What is the name of the | longest river in Asia?",
        "Give me three | reasons to learn a | second language.",
        "How long does it take to | boil an egg?",
        "Do you think that | robots will ever | have feelings?",
        "Please compare the | two largest cities of Japan.",
        "Should I buy | a used car or | lease a new one?",
        "What's the best way to | get from the airport to the | old town?",
        "Why are there so many | different kinds of beetles?",
        "Name the five | biggest countries in | South America.",
        "Are there any | trains to Vienna tonight?",
        "How does a | microwave oven heat | food?",
    ),
    *_sayings(
        "um",
        "What is the, um, | capital of Mongolia?",
        "How do I, uh, | change a flat tyre?",
        "Can you explain, um, | how the stock market works?",
        "Who was the, uh, | first woman in space?",
        "I need a, um, | recipe for pancakes.",
        "Tell me about the, uh, | Battle of Hastings.",
        "Why do we, um, | dream at night?",
        "Where did the, uh, | Olympic Games begin?",
        "So, um, | what is a black hole?",
        "Is there a, uh, | cure for hay fever?",
        "Could you, um, | help me with my | homework?",
        "Which, uh, | instrument is the easiest to learn?",
        "How old is, um, | the universe?",
        "What did, uh, | Newton discover?",
        "Well, um, | how would you | describe the colour blue?",
        "Give me a, uh, | good name for a black dog.",
        "Does, um, | chocolate contain caffeine?",
        "When should I, uh, | plant tomatoes?",
    ),
    *_sayings(
        "phrase",
        "What is the capital of France | in the Middle Ages?",
        "How much does a house cost | on average in Denmark?",
        "Who won the world cup | in nineteen sixty six?",
        "Explain how photosynthesis works | to a small child.",
        "What should I wear | to a job interview on Monday?",
        "Tell me a story | about a dragon who is afraid of fire.",
        "Can I grow lemons | on a north facing balcony?",
        "How do birds find their way | across the ocean?",
        "What do you know about volcanoes | on other planets?",
        "Write a letter to my landlord | about the broken heating.",
        "Why is the sky red | just before the sun sets?",
        "Where do whales go | when the winter comes?",
        "What are the rules of tennis | if it starts to rain?",
        "How can I learn to swim | without taking lessons?",
        "Which book should I read | if I like detective stories?",
        "Give me an example of irony | from a famous play.",
        "Is it healthy to run | every single day?",
        "When do the shops open | on a public holiday?",
        "How many bones are there | in a human hand?",
        "Describe the city of Rome | as it was two thousand years ago.",
        "What can I cook | with rice and two eggs?",
        "Do plants sleep | at night like we do?",
        "Suggest a present | for somebody who has everything.",
        "Who invented the telephone | and in which year?",
        "List all the planets | and tell me how large they are.",
    ),
    *_sayings(
        "statement",
        "My sister is getting married in June. | What should I give her?",
        "I have two apples and three oranges. | How many pieces of fruit do I have?",
        "The car makes a strange noise when I brake. | What could that be?",
        "We are going to Portugal next month. | Which towns should we visit?",
        "I can't sleep at night. | Do you have any advice?",
        "My son is afraid of dogs. | How can I help him?",
        "A train leaves at noon and travels at fifty miles an hour. | Where is it at three?",
        "I read a book about the Romans. | Why did their empire fall?",
        "There is a spider in my kitchen. | Is it dangerous?",
        "I've been learning the piano for a year. | What should I practise next?",
        "It has been raining for a week. | When will it stop?",
        "My computer is very slow. | Tell me what I can do about it.",
        "David has three sisters. Each of them has one brother. | How many brothers does David have?",
        "I bought too many tomatoes. | Give me a recipe for all of them.",
        "We have a meeting tomorrow morning. | Please write a short agenda.",
        "The numbers are three, nine and twenty seven. | What comes next?",
        "I don't understand fractions. | Can you explain them?",
        "My flight was cancelled. | What are my rights?",
        "Our cat doesn't eat any more. | Should we see a doctor?",
        "I work at night and sleep by day. | Is that bad for me?",
        "Yesterday I saw a bright green light in the sky. | What was it?",
        "She wants to become a pilot. | How long does that take?",
        "I'm writing a story about a lighthouse. | Suggest a good title for it.",
        "They say that money can't buy happiness. | Do you agree with that?",
        "I have a guest from Japan. | What could I cook for him?",
    ),
    *_sayings(
        "whole",
        "What time is it in New York?",
        "Who painted the Mona Lisa?",
        "Tell me a joke.",
        "How tall is Mount Everest?",
        "What does the word serendipity mean?",
        "Explain gravity in one sentence.",
        "Can dogs eat grapes?",
        "Give me a quick summary of Hamlet.",
        "Are you there?",
        "Why?",
        "I want to hear a song.",
        "Please continue.",
    ),
)


FRESH: tuple[Saying, ...] = (
    *_sayings(
        "clause",
        "Where does the | water in our | rivers come from?",
        "How many | teeth does a shark have?",
        "What kind of | music did people play in | ancient Greece?",
        "Why do cats | purr when you | stroke them?",
        "Can you explain | how a rainbow is made?",
        "Which country | produces the most coffee?",
        "Who discovered the | structure of DNA?",
        "What is the difference between | butter and | margarine?",
        "When did the | Berlin wall come down?",
        "How do you | say thank you in Japanese?",
        "Is there any | life on the | moons of Jupiter?",
        "What should I | do if my | phone falls into water?",
        "How much sleep does a | ten year old need?",
        "Could you recommend a | museum for a | rainy day in Madrid?",
        "Why did the | dinosaurs die out?",
        "What are the | main ingredients of | hummus?",
        "Do bees | sleep in their hive at night?",
        "How fast can a | cheetah run?",
        "What does it | mean when a dog | tilts its head?",
        "Who was the | president of the United States during the | civil war?",
        "Where is the | nearest | galaxy to ours?",
        "How would you | explain inflation to a | teenager?",
        "Which of these | two words is spelled correctly?",
        "Are there more | stars in the sky than | grains of sand?",
        "What happens to the | body when we | hold our breath?",
        "Can I use | olive oil instead of | butter in a cake?",
        "How long did it | take to build the | Great Wall of China?",
        "Why is the | sea salty?",
        "Did the Vikings | really sail to America?",
        "What was the | first film with sound?",
        "How can I | stop my glasses from | getting foggy?",
        "Would it be | cheaper to go by | train or by car?",
        "What's the | meaning of the word | ephemeral?",
        "Who is the | author of | Don Quixote?",
        "Has anybody ever | climbed Everest |* without oxygen?",
        "How do noise cancelling | headphones work?",
        "What time does the | sun rise in | Helsinki in June?",
        "Should children | learn to | code at school?",
        "Why are some | people left handed?",
        "How many | moons does the planet | Saturn have?",
        "What would you | cook for six |* hungry students?",
        "Is it possible to | learn a language |* in three months?",
        "Where did the | idea of zero | come from?",
        "Which vitamin do we | get from the sun?",
        "When is the | best time to visit |* Iceland?",
        "What makes | bread dough | rise?",
        "Does the colour | red really | make bulls angry?",
        "How is | paper made from | wood?",
        "In which year did the | Titanic sink?",
        "If I fly from | Rome to Tokyo, | how many hours will it take?",
        "When water | freezes, | why does it get bigger?",
        "Tell me the | three largest | deserts of the world.",
        "Explain to me | why the | days are shorter in winter.",
        "Give me a | few ideas for a | birthday party at home.",
        "Write a | funny message for a | colleague who is leaving.",
        "Describe the | taste of a | mango to somebody who never had one.",
        "Compare the | climate of Lisbon with the | climate of Oslo.",
        "Help me to | choose a | name for my boat.",
        "Recommend a | novel by a | woman from South America.",
        "Summarise the | plot of | Romeo and Juliet.",
        "List four | uses of | baking soda.",
        "Please tell me | how to get | chewing gum out of a carpet.",
        "Show me how to | calculate the | area of a circle.",
        "Suggest a | short walk |* near the cathedral.",
    ),
    *_sayings(
        "um",
        "What was the, uh, | name of the first dog in space?",
        "How can I, um, | get rid of ants in the | kitchen?",
        "Why does, um, | ice float on water?",
        "Which, um, | team won the league last year?",
        "Where can I, uh, | watch the northern lights?",
        "Can a, um, | vegetarian eat cheese?",
        "Um, | how far away is the moon?",
        "Who, uh, | invented the zip?",
        "Is the, um, | tomato a fruit or a | vegetable?",
        "What do, uh, | penguins eat in winter?",
        "Could you tell me, um, | what the | weather is like in Cairo?",
        "When did, uh, | Mozart write his last | symphony?",
        "How do, um, | magnets work?",
        "Do I need, uh, | a visa for Canada?",
        "Explain the, um, | offside rule in football.",
        "Give me some, uh, | tips for a job interview.",
        "Tell me, um, | who built the pyramids.",
        "How many, uh, | calories are there in a | banana?",
    ),
    *_sayings(
        "statement",
        "My neighbour plays the drums at night. | What can I do?",
        "I have a flight at six in the morning. | When should I leave the house?",
        "The recipe says two cups of flour. | How many grams is that?",
        "We have got three children and a small car. | Where should we go on holiday?",
        "There are twelve eggs in a box and I break four. | How many are left?",
        "My laptop gets very hot. | Is that normal?",
        "I am allergic to nuts. | Which cakes can I eat?",
        "Our teacher talked about entropy today. | Can you explain it in simple words?",
        "I would like to run a marathon next year. | How should I begin?",
        "The plant in my office has yellow leaves. | Does it need more water?",
        "Anna is taller than Ben and Ben is taller than Carl. | Who is the shortest?",
        "I found an old coin in the garden. | How can I find out what it is worth?",
        "My grandmother is turning ninety. | Write a short speech for her.",
        "I only have potatoes and onions. | Suggest something for dinner.",
    ),
    *_sayings(
        "phrase",
        "Why do we yawn | when other people yawn?",
        "How do I fix a flat tyre | without any tools?",
        "What did people eat | before there were forks?",
        "Who was the king of England | when America was discovered?",
        "Tell me about bees | and how they make honey.",
        "Where should I stay | if I go to Prague in May?",
        "What is the best cheese | for a fondue?",
        "Explain how a piano works | in two sentences.",
    ),
    *_sayings(
        "whole",
        "How deep is the Pacific Ocean?",
        "What is the speed of light?",
        "Can you hear me?",
        "Who are you?",
        "When was Picasso born?",
        "Why is grass green?",
        "Do fish sleep?",
        "What can you do?",
        "Is it going to rain tomorrow?",
        "How do I make pancakes?",
        "Tell me something about Iceland.",
        "Write a haiku about autumn.",
        "Explain how a bicycle stays upright.",
        "Where is Timbuktu?",
        "What year did the war end?",
        "How are you today?",
    ),
    *_sayings(
        "plain",
        "I had a terrible day at work.",
        "My favourite colour is green.",
        "We went to the | mountains last weekend.",
        "I think that my | brother is coming on | Friday.",
        "The soup was too hot to eat.",
        "I'm learning to | play the guitar.",
        "Yesterday I, um, | lost my keys in the park.",
        "That's a very good idea.",
        "My daughter wants to be an | astronaut when she grows up.",
        "I don't like this song.",
    ),
)
"""Written later: a quarter each goes to the first two parts, the other half is the third."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A stretch of a bench recording, seconds, and what is said in it; `|` marks where a pause is put."""

    file: str
    begin: float
    end: float
    kind: str
    text: str


BENCH: tuple[Cut, ...] = (
    Cut(
        "101_1",
        0.0,
        7.45,
        "statement",
        "Imagine you are participating in a race with a group of people. | If you have just overtaken the second "
        "person, what's your current position?",
    ),
    Cut("101_1", 3.7, 7.45, "clause", "If you have just overtaken the | second person, what's your current position?"),
    Cut(
        "101_1", 3.7, 7.45, "clause", "If you have just overtaken the second person, | what's your | current position?"
    ),
    Cut("101_1", 7.85, 9.81, "clause", "Where is the | person you just overtook?"),
    Cut("101_1", 7.85, 9.81, "phrase", "Where is the person | you just overtook?"),
    Cut("103_2", 0.0, 3.43, "clause", "Can you explain | why the above question is interesting?"),
    Cut("103_2", 0.0, 3.43, "clause", "Can you explain why the | above question is | interesting?"),
    Cut("108_1", 0.0, 1.9, "clause", "Which word | does not belong with | the others?"),
    Cut("108_1", 0.0, 1.9, "phrase", "Which word does not belong | with the others?"),
    Cut("141_2", 0.0, 2.55, "clause", "What assumptions | have you made in your response?"),
    Cut("141_2", 0.0, 2.55, "phrase", "What assumptions have you made | in your response?"),
    Cut("141_2", 2.75, 3.78, "clause", "Are they | valid?"),
    Cut("144_1", 0.0, 2.9, "clause", "What is the | central dogma of | molecular biology?"),
    Cut("144_1", 0.0, 2.9, "phrase", "What is the central dogma | of molecular biology?"),
    Cut("144_1", 3.25, 4.85, "clause", "What processes | are involved?"),
    Cut("144_1", 5.1, 5.91, "clause", "Who named | this?"),
    Cut("146_2", 0.0, 2.4, "clause", "Can a process | involve both | reactions?"),
    Cut("149_1", 0.0, 2.6, "clause", "Please describe | the concept of machine learning."),
    Cut("149_1", 0.0, 2.6, "clause", "Please describe the concept of | machine learning."),
    Cut(
        "149_1",
        3.05,
        8.7,
        "clause",
        "Could you elaborate on | the differences between supervised, | unsupervised, and reinforcement learning?",
    ),
    Cut(
        "149_1",
        3.05,
        8.7,
        "clause",
        "Could you elaborate on the differences between | supervised, unsupervised, | and reinforcement learning?",
    ),
    Cut("149_1", 9.1, 11.43, "phrase", "Provide real-world examples | of each."),
    Cut("151_2", 0.0, 2.51, "clause", "Now, | explain them | again like I'm five."),
    Cut("151_2", 0.0, 2.51, "phrase", "Now, explain them again | like I'm five."),
    Cut("156_2", 0.0, 4.93, "phrase", "Provide a detailed | plan for an election | campaign using the first example."),
    Cut("156_2", 0.0, 4.93, "phrase", "Provide a detailed plan for an election campaign | using the first example."),
    Cut(
        "154_1",
        0.0,
        5.4,
        "clause",
        "Create a lesson plan that integrates | drama, mime or theater techniques into a | history class.",
    ),
    Cut(
        "154_1",
        0.0,
        5.4,
        "phrase",
        "Create a lesson plan that integrates drama, mime or theater techniques | into a history class.",
    ),
)


RECORDED: tuple[tuple[str, str], ...] = (
    ("101_2", "If the second person is changed to | last person in the above question, | what would the answer be?"),
    (
        "102_2",
        "Does the original question contain | any clues to definitively | determine the location of the White House?",
    ),
    ("103_1", "Thomas is very healthy, but he has to | go to the hospital every day. | What could be the reasons?"),
    ("104_1", "David has three sisters. | Each of them has one brother. | How many brothers does David have?"),
    (
        "104_2",
        "If we change the previous question and | assume that each sister of David has two brothers, | how many "
        "brothers would David have?",
    ),
    ("107_1", "A is the father of B. B is the father of C. | What is the relationship between | A and C?"),
    ("108_2", "Could you replace it with a | word that belongs with the others?"),
    ("109_2", "To which direction | was Suresh facing? ^ How do you | solve this?"),
    (
        "141_1",
        "In the field of quantum physics, | what is superposition, and how does it relate to the | phenomenon of "
        "quantum entanglement?",
    ),
    ("142_2", "What are some | corner cases or edge cases in your solution? ^ How do you | handle them?"),
    (
        "143_1",
        "Photosynthesis is a vital process for life on Earth. | Could you outline the two main | stages of "
        "photosynthesis, including where they take place within the chloroplast, and the primary inputs and "
        "outputs for each stage?",
    ),
    (
        "143_2",
        "How much energy can a | tree produce through | photosynthesis in its lifetime? ^ Please provide an | "
        "estimate using actual numerical values and thoroughly explain your | thought process step-by-step.",
    ),
    ("144_2", "Identify and fix one | incorrect fact in your | previous response."),
    ("145_2", "How can we | reverse this process?"),
    (
        "146_1",
        "Please explain the differences between | exothermic and | endothermic reactions, and include the criteria"
        " you used to distinguish between them. ^ Additionally, | please provide a | real-world example to "
        "illustrate your explanation.",
    ),
    (
        "147_2",
        "What are the key | disadvantages or flaws of your solution? ^ Please perform | calculations and use "
        "numbers to | illustrate them.",
    ),
    (
        "148_2",
        "If the system is intended for a | building with a capacity of 100 individuals, | what would be the "
        "estimated budget for implementing this system?",
    ),
    ("149_2", "In your last example of | reinforcement learning, | can we use supervised learning to solve it?"),
    (
        "150_1",
        "How have the Alps and | Rhine River influenced | settlement and agriculture in Western Europe? ^ List "
        "three | impacts.",
    ),
    ("150_2", "How could you design a | concrete but simple | experiment to validate the first impact?"),
    (
        "151_1",
        "Provide insights into the | correlation between economic indicators such as | GDP, inflation, and "
        "unemployment rates. ^ Explain how | fiscal and monetary policies | affect those indicators.",
    ),
    ("152_1", "How do the stages of life | shape our understanding of | time and mortality?"),
    ("152_2", "Write an | allegorical poem that | illustrates the above."),
    (
        "153_1",
        "Discuss antitrust laws and their | impact on market competition. ^ Compare the | antitrust laws in | US "
        "and China along with some case studies.",
    ),
    ("153_2", "Pick one case study and | explain it in detail."),
    ("154_2", "Provide more | details for Day 1 and | include three homework questions."),
    (
        "155_1",
        "Share ideas for | adapting art masterpieces into | interactive experiences for children. ^ List 5 | "
        "specific artworks and | associated ideas.",
    ),
    ("155_2", "Write a concrete | plan for your second example. ^ Include | budget estimates."),
    (
        "156_1",
        "Explain what's | base rate fallacy and | list five specific examples of how politicians use it for campaigns.",
    ),
    ("158_1", "Which methods did | Socrates employ to | challenge the prevailing thoughts of his time?"),
    (
        "158_2",
        "Let's bring Socrates to | modern world. ^ Generate a conversation between | Socrates and Bill Gates to | "
        "debate on generative AI for education.",
    ),
    ("159_1", "What are some | business etiquette norms when doing | business in Japan?"),
    (
        "159_2",
        "Create a video | script for training new employees of a | car wash business in Japan. ^ Highlight the | "
        "above etiquette norms.",
    ),
    (
        "160_1",
        "Suggest five | award-winning documentary films with | brief background descriptions for aspiring "
        "filmmakers to study.",
    ),
    (
        "160_2",
        "With the spirit in the first film, | craft a succinct and | persuasive pitch for a film about overcoming "
        "adversity.",
    ),
)
"""MT-Bench's spoken turns that the bench's recordings don't hold: the file and what is said in it. `|` marks a pause
that is put in, `^` where the recording is cut in two."""
WHOLE_INSIDE = frozenset({("141_1", 0), ("143_1", 0), ("143_2", 1), ("146_1", 0), ("148_2", 0), ("156_1", 0)})
"""Stretches of RECORDED in which the voice itself rests behind a whole question: of kind `phrase`."""
