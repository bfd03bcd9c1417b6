"""The calculator tool: evaluates one line of arithmetic.

Expressions are evaluated by the library `simpleeval`. This module restricts all values to numbers and limits their
size, so that an expression like 9**9**9 fails immediately.
"""

from __future__ import annotations

import ast
import asyncio
import functools
import math
import operator
import re
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import simpleeval

from app.tools.base import ToolError, ToolSpec, object_schema

LENGTH = 500
"""The maximum length of an expression in characters."""
BITS = 16_384
"""The maximum size of an integer in bits: about 4,900 digits."""
FACTORIAL = 1_000
DIGITS = 12
"""The number of significant digits of a non-integer result."""

_EXACT = Context(prec=10_000)
# A match never starts inside a number or backtracks into one, so each pattern runs in linear time.
_NUMBER = r"(?<![\d.])(?:\d++(?:\.\d*+)?|\.\d++)"
_PERCENT_OF = re.compile(rf"({_NUMBER})\s*(?:%|\bper\s?cent\b)\s*of\b", re.IGNORECASE)
_ADDED_PERCENT = re.compile(rf"(?<=[\w.)%])\s*([+-])\s*({_NUMBER})\s*%")
_PERCENT = re.compile(rf"({_NUMBER})\s*%(?=\s*(?:$|[-+*/),]))")
_JOINED_WORD = re.compile(r"[\d.](?:and|else|for|if|in|is|not|or)\b")
"""A number directly followed by a keyword, which Python's parser accepts with a warning on standard error."""


def _bounded(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ToolError("The calculator works with real numbers only, and this leads to something else.")
    if isinstance(value, int) and value.bit_length() > BITS:
        raise ToolError("The number becomes too large for the calculator. Ask for a smaller one, or for its logarithm.")
    return value


def _power(base: Any, exponent: Any) -> Any:
    whole = isinstance(base, int) and isinstance(exponent, int)
    if whole and abs(base) > 1 and base.bit_length() * exponent > BITS:
        raise ToolError("The power becomes too large for the calculator. Ask for a smaller one, or for its logarithm.")
    return base**exponent


def _factorial(number: Any) -> int:
    if number > FACTORIAL:
        raise ToolError(f"The calculator has factorials up to {FACTORIAL:,} only.")
    return math.factorial(int(number) if float(number).is_integer() else number)


def _round(number: Any, digits: Any = 0) -> Any:
    if not -400 <= digits <= 400:
        raise ToolError("The calculator rounds to 400 digits at most.")
    # Rounds half up, not half to even: 2.5 becomes 3.
    unit = Decimal(1).scaleb(-operator.index(digits))
    rounded = Decimal(number if isinstance(number, int) else repr(number)).quantize(unit, ROUND_HALF_UP, _EXACT)
    return int(rounded) if digits <= 0 else float(rounded)


def _checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps `function` to check its arguments and result, so that text is rejected before it can be multiplied."""
    return lambda *values: _bounded(function(*map(_bounded, values)))


_UNCHECKED_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_OPERATORS = {kind: _checked(function) for kind, function in _UNCHECKED_OPERATORS.items()}
_OF_MATH = (
    "sqrt cbrt exp log log2 log10 sin cos tan asin acos atan atan2 sinh cosh tanh degrees radians "
    "floor ceil trunc gcd hypot"
).split()
_UNCHECKED_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(math, name) for name in _OF_MATH},
    "lcm": lambda *numbers: functools.reduce(lambda left, right: _bounded(math.lcm(left, right)), numbers, 1),
    "ln": math.log,
    "abs": abs,
    "min": min,
    "max": max,
    "round": _round,
    "factorial": _factorial,
}
_FUNCTIONS = {name: _checked(function) for name, function in _UNCHECKED_FUNCTIONS.items()}
_NAMES = {"pi": math.pi, "e": math.e, "tau": math.tau, "π": math.pi}
_NODES = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.Call, ast.Name)


class Calculator:
    """The calculator tool, which evaluates one expression per call."""

    spec = ToolSpec(
        "calculator",
        "Works out one arithmetic expression and gives the number. Use it for every calculation that is not trivial. "
        "Takes + - * / // ** and parentheses, % as in '15% of 80', '80 + 15%' or '17 % 5', pi, e, sqrt, cbrt, exp, "
        "ln, log(x, base), log10, log2, sin, cos, tan, asin, acos, atan (in radians: sin(radians(30))), degrees, "
        "radians, abs, min, max, round(x, digits), floor, ceil, gcd, lcm, factorial.",
        object_schema(
            {"expression": {"type": "string", "description": "For example (3 + 4) * 2.5 or sqrt(2) or 15% of 80"}},
            ("expression",),
        ),
    )

    async def call(self, arguments: Mapping[str, Any]) -> str:
        """Returns "EXPRESSION = NUMBER". Raises ToolError."""
        expression = " ".join(str(arguments["expression"]).split())
        return f"{expression} = {await asyncio.to_thread(calculate, expression)}"


def calculate(expression: str) -> str:
    """Returns the value of `expression`: integers up to 128 bits exactly, others to 12 digits. Raises ToolError."""
    if len(expression) > LENGTH:
        raise ToolError(f"The expression is longer than {LENGTH} characters: work it out in parts.")
    evaluator = simpleeval.SimpleEval(operators=_OPERATORS, functions=_FUNCTIONS, names=_NAMES)
    evaluator.nodes = {kind: function for kind, function in evaluator.nodes.items() if kind in _NODES}
    try:
        text = _as_python(expression)
        if _JOINED_WORD.search(text):
            raise SyntaxError
        # The library's own parser would accept several statements and assignments.
        parsed = ast.parse(text, mode="eval").body
        return _format(_bounded(evaluator.eval(expression, parsed)))
    except ToolError:
        raise
    except ZeroDivisionError:
        raise ToolError("That is a division by zero: it has no value.") from None
    except OverflowError:
        raise ToolError("The number becomes too large for the calculator.") from None
    except simpleeval.FunctionNotDefined as error:
        raise ToolError(f"The calculator has no function “{error.func_name}”.") from None
    except simpleeval.NameNotDefined as error:
        raise ToolError(f"The calculator knows no “{error.name}”: it takes numbers, pi, e and its functions.") from None
    except ValueError as error:
        raise ToolError(f"That has no real value ({error}).") from None
    except (simpleeval.InvalidExpression, SyntaxError, TypeError, ArithmeticError, RecursionError, MemoryError):
        raise ToolError(
            f"The calculator does not understand “{expression}”: write plain arithmetic such as (3 + 4) * 2.5."
        ) from None


def _as_python(text: str) -> str:
    """Returns `text` with common mathematical notation replaced by Python's operators."""
    text = text.strip().removesuffix("=").rstrip()
    for sign, python in (("×", "*"), ("·", "*"), ("÷", "/"), ("−", "-"), ("–", "-"), ("^", "**"), ("√(", "sqrt(")):
        text = text.replace(sign, python)
    if not re.search(r"\w\s*\(", text):  # in max(100,200) the comma separates two numbers
        text = re.sub(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])", lambda found: found.group().replace(",", ""), text)
    return _percentages(text)


def _percentages(text: str) -> str:
    """Replaces percentages as pocket calculators do: 80 + 15% is 92, 80 * 15% is 12. 17 % 5 is still a modulo."""
    text = _PERCENT_OF.sub(r"(\1/100)*", text)
    factors: list[str] = []
    for added in reversed(list(_ADDED_PERCENT.finditer(text))):
        # In a series at the end, such as + 10% - 5%, each percentage applies to everything before it.
        if added.end() != len(text) or (not factors and text.count("(", 0, added.start()) != text.count(")")):
            break
        factors.append(f"*(1{added[1]}{added[2]}/100)")
        text = text[: added.start()]
    if factors:
        text = f"({text})"
    return _PERCENT.sub(r"(\1/100)", text) + "".join(reversed(factors))


def _format(value: int | float) -> str:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ToolError("The number becomes too large for the calculator.")
        if value.is_integer() and abs(value) < 10**15:
            return str(int(value))
        return format(value, f".{DIGITS}g")
    return str(value) if value.bit_length() <= 128 else str(Context(prec=DIGITS).create_decimal(value).normalize())
