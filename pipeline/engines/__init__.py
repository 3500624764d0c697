"""Programs beside us that a user may switch on: language models and machine translation, asked over HTTP with JSON.

Nothing here is imported unless errmine.toml has `[enrich]` or `[translate]`. One client for all of them:

    http.py      one question, with Retry-After, a budget of calls, tokens and seconds, and an end to asking in vain
    answers.py   what was answered before, on disk by the content of the question: a second build asks nothing
    batch.py     the same questions as a file, their answers as a file
    chat.py      the OpenAI-compatible chat endpoint (llama.cpp, vLLM, hosted): json_schema, json_object, plain
"""
