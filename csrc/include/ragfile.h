/* ragfile.h - the public interface of the library: includes every header of ragfile/.
 *
 * Include single headers instead where compile time matters. Call rag_init (machine.h) once before
 * anything else. */
#ifndef RAGFILE_H
#define RAGFILE_H

#include "ragfile/status.h"
#include "ragfile/languages.h"
#include "ragfile/machine.h"
#include "ragfile/section.h"
#include "ragfile/files.h"
#include "ragfile/encryption.h"
#include "ragfile/container.h"
#include "ragfile/writer.h"
#include "ragfile/parity.h"
#include "ragfile/compression.h"
#include "ragfile/streams.h"
#include "ragfile/records.h"
#include "ragfile/columns.h"
#include "ragfile/bits.h"
#include "ragfile/matrix.h"
#include "ragfile/shadows.h"
#include "ragfile/clusters.h"
#include "ragfile/search.h"
#include "ragfile/sample.h"
#include "ragfile/words.h"
#include "ragfile/bm25.h"
#include "ragfile/positions.h"
#include "ragfile/graph.h"
#include "ragfile/frequencies.h"
#include "ragfile/sparse.h"
#include "ragfile/titles.h"
#include "ragfile/fusion.h"
#include "ragfile/refinement.h"
#include "ragfile/model.h"
#include "ragfile/pairs.h"
#include "ragfile/formats.h"

#endif
