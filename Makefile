# The targets of everyday work. Checks and long tests: make -C tests help. Benchmarks: make -C bench help.
# PY is the Python of the virtual environment that `make setup` creates.
PY ?= .venv/bin/python
CLANG_FORMAT ?= $(if $(findstring /,$(PY)),$(dir $(PY)))clang-format
C_FILES = $(filter-out %_tables.h,$(wildcard csrc/*.c csrc/*/*.[ch] csrc/*/*/*.[ch] tests/*/*.[ch]))

.PHONY: $(shell sed -n "s/^\([a-z][a-z0-9 -]*\):.*/\1/p" Makefile)

help:                 # this list
	@sed -n "s/^\([a-z][a-z0-9 -]*\):[^#]*## \(.*\)/\1\t\2/p" Makefile | expand -t 24

setup:                ## create .venv with everything that the tests need
	python3 -m venv .venv
	$(PY) -m pip install -q --upgrade pip
	$(PY) -m pip install -q -e ".[test,dev]"

build:                ## compile again after a change in csrc/, a .pyx or a .pxi
	$(PY) -m pip install -q -e .

test:                 ## the suite, in under five minutes; ROOM=search runs tests/search alone
	$(PY) -m pytest -q $(if $(ROOM),tests/$(ROOM))

lint:                 ## check the format of every file: ruff for Python, clang-format for C
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(CLANG_FORMAT) --dry-run --Werror $(C_FILES)

format:               ## format every file as `make lint` expects
	$(PY) -m ruff format .
	$(CLANG_FORMAT) -i $(C_FILES)

web:                  ## build what `ragfile site` needs: the core for browsers and the stemmers
	$(PY) tools/build_web.py

docs: web             ## build the website in build/site; needs pip install -e ".[docs]"
	rm -rf build/pages build/site && mkdir -p build/pages
	tar cf - *.md LICENSE docs spec csrc/README.md csrc/example.c bench/*.md bench/*.py | tar xf - -C build/pages
	cd build/pages && $(abspath $(PY)) -m ragfile build . --include '*.md' --exclude bench/ --exclude csrc/ --exclude spec/vectors/ -o ../docs.ragfile --for web --embedder none
	$(PY) -m ragfile site build/docs.ragfile -o build/pages/ask --title "ragfile's documentation"
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build
	! grep -rlE '<(script|link)[^>]*(src|href)="?https?://' build/site --include='*.html'

windows:              # build the wheel for Windows and try it under Wine; PART=search for a part: docs/reference/platforms.md
	PY=$(PY) tools/windows/try.sh $(PART)

release-check: setup    # everything that a release does, but the upload: RELEASE.md
	tools/release_check.sh

clean:                ## delete everything that was built
	rm -rf build dist .venv .venv-sanitize ragfile/_core*.c ragfile/*.so *.egg-info
