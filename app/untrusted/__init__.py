"""Takes in what others wrote: bounds, and the readers of text, JSON, files and HTTP answers that keep to them."""
