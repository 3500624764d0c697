-- The tables of errmine.duckdb. The words behind "--" become COMMENT ON TABLE and COMMENT ON COLUMN.
-- Times are UTC. Offsets count characters of the document's text. *_id columns join by equal names.

CREATE TABLE meta ( -- What made this file: schema_version, normaliser and the like
    key VARCHAR, -- Name of the fact
    value VARCHAR -- The fact
);
CREATE TABLE schema_versions ( -- The versions of these tables, oldest first; the last one is this file's
    version VARCHAR, -- major.minor: a minor step only adds
    changed VARCHAR -- What the step to it changed
);
CREATE TABLE documents ( -- One row a thread, page or foreign entry; the text itself stays in raw
    document_id VARCHAR, -- github.com/owner/repo#5, or page:<sha256> where the address is unknown
    kind VARCHAR, -- issue, pull, doc, release or entry
    url VARCHAR, -- Permalink, or urn:sha256:... where none is known
    repo VARCHAR, -- owner/repo, null if unknown
    number BIGINT, -- Number of the issue or pull request
    title VARCHAR, -- Title as its author wrote it
    state VARCHAR, -- open or closed; of a release: released or prerelease
    state_reason VARCHAR, -- completed, not_planned, duplicate, ...
    is_draft BOOLEAN, -- Pull requests: a draft
    is_merged BOOLEAN, -- Pull requests: merged
    labels VARCHAR[], -- Labels, as the repository names them
    opened_at TIMESTAMPTZ, -- When it was opened, null if the source does not say
    updated_at TIMESTAMPTZ, -- Last change by the source's own word
    closed_at TIMESTAMPTZ, -- When it was closed
    post_count BIGINT, -- Title, body, comments and reviews
    character_count BIGINT, -- Length of the text that offsets count in
    links JSON, -- Typed edges to other documents: [{kind, target, start, end, title}], the title where the API gives it
    fixed_in VARCHAR[], -- Versions that its tracker names as those with the fix (JIRA: Fix Version/s)
    raw_sha256 VARCHAR, -- sha256 of the raw page
    source VARCHAR, -- Which source brought it
    form VARCHAR, -- Which reader understood it
    is_lossy BOOLEAN, -- True where the form is known to have lost parts of the page
    hidden_count BIGINT -- Invisible characters taken out of its text: zero-width, bidi, private use, variation selectors
);
CREATE TABLE events ( -- One row a failure that a document shows
    event_id VARCHAR, -- Made from document and place
    document_id VARCHAR, -- The document that shows it
    ordinal BIGINT, -- 0 for the first event of the document
    signature_id VARCHAR, -- Its signature, null for warnings and interruptions
    dialect VARCHAR, -- python, pytest, cpp, glog, llvm, mlir, ptxas, ...
    severity VARCHAR, -- error, warning, wrapper, interruption, progress, empty or official; only errors and official samples are grouped
    exception_type VARCHAR, -- As printed, qualified
    message VARCHAR, -- First line of the message
    detail VARCHAR, -- The whole message, at most 1,000 characters
    frames STRUCT(file VARCHAR, line BIGINT, function VARCHAR)[], -- Stack, outermost first
    chain JSON, -- Exceptions printed before this one
    codes VARCHAR[], -- xla:E1001, cuda:cudaErrorIllegalAddress, nccl:..., absl:...
    start_offset BIGINT, -- Where the block begins
    end_offset BIGINT, -- Where the block ends
    is_truncated BOOLEAN, -- True where the text breaks off
    culprit VARCHAR, -- Id of the rule that chose the culprit line
    culprit_start BIGINT, -- Where the culprit line begins
    culprit_end BIGINT, -- Where the culprit line ends
    frame_key VARCHAR, -- Innermost functions of the program's own code, else of a library's, innermost last
    notes VARCHAR[], -- What each normalising rule did
    quote VARCHAR, -- The culprit line verbatim, at most 300 characters
    posted_at TIMESTAMPTZ, -- When the post that shows it was written
    author_role VARCHAR, -- OWNER, MEMBER, COLLABORATOR, CONTRIBUTOR, NONE (GitHub's author_association); null where the source does not say, as most archives of opening posts; never a name
    url VARCHAR -- Permalink of the post
);
CREATE TABLE signatures ( -- One row a signature: an error's message with its varying parts taken out
    signature_id VARCHAR, -- Made from normaliser version, gate and signature
    exception_type VARCHAR, -- Canonical
    signature VARCHAR, -- The message with what varies as slots: <n>, <size>, <path>
    gate JSON, -- Discriminators: [[name, value], ...]; different gates are never one error
    is_gate_complete BOOLEAN, -- True: the gate alone names the error
    is_truncated BOOLEAN, -- True: every event of it breaks off
    event_count BIGINT, -- Events that have it
    document_count BIGINT, -- Documents that show it
    first_seen DATE, -- Day of its oldest dated event
    last_seen DATE -- Day of its newest dated event
);
CREATE TABLE parameters ( -- One row a typed slot of an event: what varied, as numbers
    event_id VARCHAR, -- The event
    signature_id VARCHAR, -- Its signature
    ordinal BIGINT, -- Place of the slot in the signature, from 1
    name VARCHAR, -- required, limit, bytes, shape, device, arch, ...
    value VARCHAR, -- As printed
    number DOUBLE, -- Its value in unit, where it has one
    unit VARCHAR -- byte, thread, ...
);
CREATE TABLE clusters ( -- One row an error: signatures that mean the same
    cluster_id VARCHAR, -- Made from its representative
    entry_id VARCHAR, -- The published entry, null if none was published
    signature_id VARCHAR, -- The representative one of its signatures (medoid)
    exception_type VARCHAR, -- Of the representative
    signature VARCHAR, -- Of the representative
    gate JSON, -- Discriminators that all members share
    regex VARCHAR, -- RE2, matches every member; null if none could be proven
    lowest_score DOUBLE, -- Likeness (0-100) of the farthest member
    signature_count BIGINT, -- Signatures in it
    event_count BIGINT, -- Events in it
    document_count BIGINT, -- Documents with an event of it; entries.evidence_count, which lists and headlines show, has others too: docs/counting.md
    first_seen DATE, -- Day of its oldest dated event
    last_seen DATE -- Day of its newest dated event
);
CREATE TABLE assignments ( -- Why a signature is in its cluster
    signature_id VARCHAR, -- The signature
    cluster_id VARCHAR, -- The cluster it is in
    rule VARCHAR, -- founder, leader, gate, equal, ratio, slot, prefix, untyped, place, quote, override or review
    score DOUBLE, -- Likeness to the representative, 0-100
    explanation VARCHAR -- One sentence for people
);
CREATE TABLE neighbours ( -- Two clusters that look alike and are not one
    cluster_id VARCHAR, -- One of them
    other_id VARCHAR, -- The other
    score DOUBLE, -- Likeness, 0-100
    reason VARCHAR -- What keeps them apart
);
CREATE TABLE claims ( -- What one quote says about errors of its document, before counting
    claim_id VARCHAR, -- Made from its content
    kind VARCHAR, -- cause, remedy, fix, version, environment, link, official, closing, release or candidate
    rule VARCHAR, -- Id of the rule that found it
    fact VARCHAR, -- What it says, by its id in data/facts.toml; null for prose
    slots JSON, -- Words of the fact: [[name, value], ...]
    outcome VARCHAR, -- worked, failed, or null where merely suggested
    remedy_key VARCHAR, -- What makes two claims the same remedy; of a candidate its share
    document_id VARCHAR, -- The document quoted
    url VARCHAR, -- Permalink of the post
    quote VARCHAR, -- Verbatim
    quote_lang VARCHAR, -- Language of the quote
    start_offset BIGINT, -- Where it begins
    end_offset BIGINT, -- Where it ends
    posted_at TIMESTAMPTZ, -- When the post was written, null if the source does not say
    author_role VARCHAR, -- Role of its author, as events.author_role; PROGRAM where a program printed the words
    outcome_quote VARCHAR, -- Where the outcome was said elsewhere: those words
    passage VARCHAR, -- The block that the quote announces, as far as it is quoted, or the words that announce the quoted item
    signature_ids VARCHAR[], -- The signatures it speaks about
    doubt INTEGER -- A statement that is a lead at most: of a hundred as doubtful as it so many were right; null where it stands
);
CREATE TABLE withheld ( -- Claims that no entry shows: advice that nobody tried, or words of one project that no case can name
    cluster_id VARCHAR, -- The error
    claim_id VARCHAR, -- The claim
    document_id VARCHAR, -- The thread that says it
    repo VARCHAR, -- Its repository
    frame VARCHAR, -- module:function in which that thread's error was raised, null if it shows no frames
    reason VARCHAR -- names_nothing, common_names, outer_error, many_projects, fix_of_one_project, fix_of_one_report, cause_of_one_report, unconfirmed or contested
);
CREATE TABLE entries ( -- One row a published entry; json holds all of it
    entry_id VARCHAR, -- domain/slug, fixed when first published
    cluster_id VARCHAR, -- The cluster it tells about, null for imported entries
    signature VARCHAR, -- The error message, varying parts as <name>
    signature_zh VARCHAR, -- What it means, in Chinese; null where nothing passed the gates
    regex VARCHAR, -- RE2
    domain VARCHAR, -- Closed vocabulary
    category VARCHAR, -- Closed vocabulary
    subcategory VARCHAR, -- Closed vocabulary
    exception_type VARCHAR, -- Canonical
    root_cause VARCHAR, -- Null if nobody said
    root_cause_zh VARCHAR, -- Chinese side
    root_cause_type VARCHAR, -- documented, quoted, program, generic (imported) or model (picked by a language model)
    cause_type VARCHAR, -- Kind of cause, of the closed set in docs/causes.md; null where none is sure
    documentation VARCHAR, -- What its project's documentation says that the code or message means; null where no row of a pack explains it
    documentation_zh VARCHAR, -- The same in Chinese
    documentation_url VARCHAR, -- Where that can be read
    documentation_row VARCHAR, -- The row of a pack that says it
    error_code VARCHAR, -- The code that names this error
    codes VARCHAR[], -- Every code seen with it
    verification_tier VARCHAR, -- documented > maintainer_confirmed > user_confirmed > reported > ai_generated
    confidence DOUBLE, -- Formula over counts; null without evidence
    fix_success_rate DOUBLE, -- Null if nobody said whether a remedy worked
    resolvable VARCHAR, -- true, false, partial or null
    first_seen DATE, -- From the evidence
    last_confirmed DATE, -- From the evidence
    last_updated DATE, -- From the evidence
    evidence_count BIGINT, -- Distinct documents in evidence: that show the error, explain it, fix it or say what helped
    occurrence_count BIGINT, -- Events, repeats inside a document included
    workaround_count BIGINT, -- Rows in remedies of kind workaround
    dead_end_count BIGINT, -- Rows in remedies of kind dead_end
    official_doc_url VARCHAR, -- Official page, null if none
    official_doc_section VARCHAR, -- Its section
    tags VARCHAR[], -- Tags
    origin VARCHAR, -- mined, catalogue or imported
    is_answered BOOLEAN, -- Whether it has a cause, a remedy, a fix, or text of an official page
    is_documented BOOLEAN, -- Whether documentation says what it means; no answer of anybody's, and counted apart
    json JSON -- The entry as published
);
CREATE TABLE evidence ( -- One row a quote that an entry rests on, those too that its json omits
    entry_id VARCHAR, -- The entry
    evidence_id VARCHAR, -- Unique inside the entry
    role VARCHAR, -- occurrence, cause, workaround, worked, failed, fix, version, environment, official or link
    url VARCHAR, -- Permalink
    kind VARCHAR, -- issue, pull or doc
    document_id VARCHAR, -- The document counted
    repo VARCHAR, -- owner/repo
    number BIGINT, -- Number of the issue or pull request
    state VARCHAR, -- open or closed
    posted_at TIMESTAMPTZ, -- When it was written, null if the source does not say
    author_role VARCHAR, -- Role of its author, as events.author_role; PROGRAM where a program printed the words; never a name
    quote VARCHAR, -- Verbatim, at most 300 characters
    quote_lang VARCHAR, -- Language of the quote
    start_offset BIGINT, -- Where it begins
    end_offset BIGINT, -- Where it ends
    raw_sha256 VARCHAR, -- sha256 of the raw page
    rule VARCHAR -- Id of the rule that found it
);
CREATE TABLE citations ( -- Which evidence each part of an entry rests on: join here to walk a count back to its quotes
    entry_id VARCHAR, -- The entry
    part VARCHAR, -- root_cause, workaround, dead_end, case_statement, version, environment, leads_to, preceded_by, frequently_confused_with
    ordinal BIGINT, -- Place in that list, from 0
    evidence_id VARCHAR -- The quote
);
CREATE TABLE remedies ( -- One row a workaround or dead end
    entry_id VARCHAR, -- The entry
    kind VARCHAR, -- workaround or dead_end
    ordinal BIGINT, -- Place in its list, from 0
    action VARCHAR, -- What was done
    action_zh VARCHAR, -- The same in Chinese, null where nothing passed the gates
    action_lang VARCHAR, -- Language of action
    how VARCHAR, -- A command or the quoted words
    condition VARCHAR, -- When it applies
    why_fails VARCHAR, -- Dead ends: why, if somebody said
    worked BIGINT, -- Documents in which somebody said that it helped
    failed BIGINT, -- Documents in which somebody said that it did not
    rate DOUBLE, -- worked (dead ends: failed) / (worked + failed); null at 0
    tier VARCHAR, -- Workarounds: who stands behind it
    sources VARCHAR[] -- URLs
);
CREATE TABLE replies ( -- What the next posts answer to an act of an entry, in few words: shown beside it, counted nowhere
    entry_id VARCHAR, -- The entry
    part VARCHAR, -- workaround or case_statement
    ordinal BIGINT, -- Place of the act in that list, as in remedies and case_statements
    outcome VARCHAR, -- worked or failed: what the words say became of it
    quote VARCHAR, -- Verbatim, at most 300 characters
    quote_lang VARCHAR, -- Language of the quote
    url VARCHAR, -- Permalink of the post
    document_id VARCHAR, -- The thread
    repo VARCHAR, -- owner/repo
    number BIGINT, -- Number of the issue or pull request
    posted_at TIMESTAMPTZ, -- When it was written, null if the source does not say
    author_role VARCHAR, -- Role of its author, as events.author_role; never a name
    start_offset BIGINT, -- Where it begins
    end_offset BIGINT, -- Where it ends
    raw_sha256 VARCHAR, -- sha256 of the raw page
    claim_id VARCHAR -- The claim, a row of the view candidates
);
CREATE TABLE cases ( -- One row a project and place in which an error of many programs was answered: what was said there
    entry_id VARCHAR, -- The entry
    ordinal BIGINT, -- Place in its list, from 0
    repo VARCHAR, -- The project, owner/repo
    frame VARCHAR, -- module:function that raised it there, null if no frames are shown
    library VARCHAR, -- Installed package whose code raised it, null where none is known
    documents VARCHAR[] -- document_id of each of its threads that shows it there
);
CREATE TABLE case_statements ( -- What was said in one case: it holds there, and of no other program
    entry_id VARCHAR, -- The entry
    ordinal BIGINT, -- Number of the statement over all cases of the entry, from 0
    case_ordinal BIGINT, -- The case, as in cases.ordinal
    kind VARCHAR, -- cause, workaround or dead_end
    text VARCHAR, -- A fact as a sentence, or the quoted words
    text_lang VARCHAR, -- Language of text
    text_zh VARCHAR, -- The same in Chinese, null where nothing passed the gates
    cause_type VARCHAR, -- Causes: what kind, as entries.cause_type
    how VARCHAR, -- A command or the quoted words
    condition VARCHAR, -- When it applies
    why_fails VARCHAR, -- Dead ends: why, if somebody said
    worked BIGINT, -- Documents in which somebody said that it helped
    failed BIGINT, -- Documents in which somebody said that it did not
    tier VARCHAR, -- Who stands behind it
    sources VARCHAR[] -- URLs
);
CREATE TABLE versions ( -- Versions in which an error was seen or fixed
    entry_id VARCHAR, -- The entry
    ordinal BIGINT, -- Place in its list, from 0
    version VARCHAR, -- Product and version
    introduced VARCHAR, -- Where the error began, null where nobody said
    deprecated VARCHAR, -- Where the behaviour was deprecated; only imported entries say so, errmine's rules read none
    removed VARCHAR, -- Where the behaviour was removed; only imported entries say so
    behavior_change VARCHAR, -- What changed; only imported entries say so
    status VARCHAR, -- affected, fixed or active
    document_count BIGINT -- Documents that name it
);
CREATE TABLE environment ( -- Where an error was seen: GPU, driver, CUDA, OS, Python
    entry_id VARCHAR, -- The entry
    ordinal BIGINT, -- Place in its list, from 0
    name VARCHAR, -- gpu, cuda, python, ...
    value VARCHAR, -- As the reporters wrote it
    document_count BIGINT -- Documents that say so
);
CREATE TABLE edges ( -- Typed relations between entries
    entry_id VARCHAR, -- From
    relation VARCHAR, -- leads_to, preceded_by or frequently_confused_with
    ordinal BIGINT, -- Place in its list, from 0
    other_id VARCHAR, -- To
    document_count BIGINT, -- Documents that show it; 0 where it is computed
    reason VARCHAR -- Why
);
CREATE TABLE translations ( -- How each Chinese field came to be
    entry_id VARCHAR, -- The entry
    field VARCHAR, -- signature_zh, root_cause_zh, workarounds_zh[0], ...
    status VARCHAR, -- source, template, tm_exact, reviewed, human, llm_checked, mt_checked, imported_checked, untranslated or not_applicable
    engine VARCHAR, -- What made it
    source_lang VARCHAR, -- Language it was made from
    source_sha256 VARCHAR, -- sha256 of the text it was made from
    gates JSON, -- Gate -> passed
    reason VARCHAR -- Why it is null, if it is
);
CREATE TABLE aliases ( -- Former names of entries
    alias VARCHAR, -- An id once published
    entry_id VARCHAR -- What it is called now
);
CREATE TABLE registry ( -- Every id that was ever published, and what it names now: ids are given once
    entry_id VARCHAR, -- The id
    state VARCHAR, -- standing; withdrawn (its evidence is gone); merged (its error is part of another, whose id it leads to); renamed
    leads_to VARCHAR, -- What took its place, null where nothing did
    cluster_id VARCHAR, -- The cluster that it was last given to, null of one that only leads to another
    signature_id VARCHAR, -- Representative of that cluster: whichever holds it inherits the id
    former_ids VARCHAR[], -- Other ids that its error had, which lead to it
    own_id VARCHAR -- Its id where no row of overrides.toml renames it
);
CREATE TABLE cluster_aliases ( -- Former ids of clusters
    alias VARCHAR, -- An id that a cluster had
    cluster_id VARCHAR -- The cluster that has most of its signatures now
);
CREATE TABLE journal ( -- What happened to clusters and entries, oldest first; rows are only ever added
    ordinal BIGINT, -- Order
    action VARCHAR, -- new, merged, split, renamed or withdrawn
    subject_id VARCHAR, -- The cluster or entry
    other_id VARCHAR, -- Merged into, split from, renamed to
    detail VARCHAR, -- Why, with what people said where they decided it
    run_id VARCHAR -- The run that did it, null where runs are not recorded; left out of the content digest
);
CREATE TABLE overrides ( -- What people decided in overrides.toml, and what it means for the signatures of this file
    ordinal BIGINT, -- Place in the file, kind by kind
    kind VARCHAR, -- merge, split, rename or ignore
    place VARCHAR, -- The row, as messages name it
    name VARCHAR, -- rename: the name
    reason VARCHAR, -- Why, in their words
    texts VARCHAR[], -- Example texts as written
    signature_ids VARCHAR[][], -- The signatures that each text means
    problem VARCHAR -- Why it, or a part of it, does nothing now; null if all of it acts
);
CREATE TABLE official_docs ( -- Official pages about error codes
    document_id VARCHAR, -- The page
    code VARCHAR, -- xla:E1001
    name VARCHAR, -- Catalogue name
    title VARCHAR, -- Title of the page
    phase VARCHAR, -- Compile Time, Runtime
    category VARCHAR, -- Category that the page names
    backends VARCHAR[], -- Back-ends that the page names
    status_code VARCHAR, -- Status as the sample prints it
    url VARCHAR, -- The page
    samples VARCHAR[], -- Sample messages
    templates VARCHAR[], -- Forms of its message, as the page prints them
    flags VARCHAR[], -- Flags and environment variables that its remedies name
    first_seen DATE, -- Day of landing, null where it is not known
    last_updated DATE, -- Day of the last change, null where it is not known
    is_lossy BOOLEAN -- Read from a form that loses parts
);
CREATE TABLE catalogue ( -- Official codes, those without an entry too: the catalogues that this errmine knows
    code VARCHAR, -- family:name, xla:E1001, cuda:cudaErrorIllegalAddress, gb:GB0025; entries.codes holds such
    family VARCHAR, -- xla, cuda, nccl, absl, jax, gb, hip, cublas, signal, exit, ...
    name VARCHAR, -- As the program or the catalogue spells it
    number BIGINT, -- Numeric value, null where it has none
    string VARCHAR, -- What the program prints for it, null where it prints none
    status VARCHAR, -- absl status that XLA registers for the code; a printed one may differ
    url VARCHAR, -- Official page, null where there is none
    is_documented BOOLEAN, -- Whether there is an official page
    aliases VARCHAR[] -- Other codes for the same: retired numbers, names of the driver API
);
CREATE TABLE skipped ( -- Items that could not go on; per stage in = out + skipped
    stage VARCHAR, -- Which stage; raw, document and extract are the parts of stage documents in stage_counts
    item_id VARCHAR, -- File and place, or a record's id (of an event, as in events)
    reason VARCHAR, -- Closed list
    detail VARCHAR -- For people
);
CREATE TABLE stage_counts ( -- What went into and came out of each stage of the build
    stage VARCHAR, -- Which stage
    item_kind VARCHAR, -- What is counted
    in_count BIGINT, -- Items that went in
    out_count BIGINT, -- Items that came out
    skipped_count BIGINT -- Items set aside, each in skipped
);
CREATE TABLE glossary ( -- Terms in both languages, as translations use them; search asks for the English of a Chinese term
    english VARCHAR, -- The term
    chinese VARCHAR -- Its first rendering or another that people use
);
CREATE TABLE search_terms ( -- Which entry has which word, for search(): made from signatures, causes, remedies, titles and quotes
    term VARCHAR, -- A Latin word in lower case, or two neighbouring Chinese characters
    entry_id VARCHAR, -- The entry
    weight BIGINT -- How often, signatures counted three times, causes and remedies twice
);
CREATE TABLE search_sizes ( -- How many terms an entry has, for search()
    entry_id VARCHAR, -- The entry
    length BIGINT -- Sum of its weights
);
CREATE TABLE runs ( -- What ran when; the only table with wall-clock times, left out of the content digest
    run_id VARCHAR, -- Id of the run
    flow VARCHAR, -- ingest, build, export, run, ...
    status VARCHAR, -- completed, partial (goes on with the next run), damaged (reconcile found something wrong), failed or killed
    started_at TIMESTAMPTZ, -- Wall clock
    ended_at TIMESTAMPTZ, -- Wall clock
    detail JSON -- Counts and figures of the run
);
