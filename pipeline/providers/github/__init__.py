"""GitHub: issues and pull requests with all that belongs to them, through its API, GH Archive or exports."""

from pipeline.providers.github import read, recognise
from pipeline.providers.provider import Provider

PROVIDER = Provider(
    name="github",
    readers=dict.fromkeys(read.FORMS, read.read),
    json_rules=(recognise.event, recognise.post, recognise.thread),
    list_rules=(recognise.timeline,),
)
