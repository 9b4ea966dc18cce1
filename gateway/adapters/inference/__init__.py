"""Where models come from and who runs them.

`catalog` and `fetch` bring weights to this machine and check them; `sidecar` keeps llama.cpp's server running in a process of
its own; `openai_api` asks it, or any other OpenAI-compatible server; `factory` chooses between them from plain settings.
Weights, the sidecar and its answers are not trusted: nothing here imports them, and nothing they say grants anything.
"""
