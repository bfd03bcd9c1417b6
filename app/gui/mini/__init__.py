"""The mini window (`window.py`): a small one in front of all others, to talk while another program is in use."""
