SELECT entry_id, matched_by, verification_tier
FROM match_error('triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 147456, Hardware limit: 101376. Reducing block sizes or `num_stages` may help.');
