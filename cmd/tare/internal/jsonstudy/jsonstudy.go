// Package jsonstudy makes a study that measures every codec on the user's JSON documents. It infers a
// Go type from the documents, or takes a type of the user's module. It builds the catalog's codecs for
// the type. It also reports where their values differ from those of encoding/json.
package jsonstudy

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/advice"
	"github.com/tarebench/tare/kinds/codec"
)

// Limits of the documents that are measured. The type is inferred from all documents.
const (
	maxPool   = 1000     // documents
	poolBytes = 32 << 20 // bytes of all documents together
)

// Chosen returns the documents that are measured. If not all are within the limits, it returns an
// evenly spread part.
func Chosen(docs []codec.Document) []codec.Document {
	var sum int
	for _, d := range docs {
		sum += len(d.Body)
	}
	n := min(len(docs), maxPool)
	if sum > poolBytes {
		n = min(n, max(1, int(float64(len(docs))*poolBytes/float64(sum))))
	}
	return pickSpread(docs, n)
}

func pickSpread(docs []codec.Document, n int) []codec.Document {
	out := make([]codec.Document, n)
	for i := range out {
		out[i] = docs[i*len(docs)/n]
	}
	return out
}

func sortedSizes(docs []codec.Document) []int64 {
	sizes := make([]int64, len(docs))
	for i, d := range docs {
		sizes[i] = int64(len(d.Body))
	}
	slices.Sort(sizes)
	return sizes
}

// poolBodies returns the texts of documents for a file with one document per line. Line ends become
// spaces: in valid JSON they are never part of a string.
func poolBodies(docs []codec.Document) [][]byte {
	out := make([][]byte, len(docs))
	for i, d := range docs {
		out[i] = bytes.ReplaceAll(d.Body, []byte("\n"), []byte(" "))
	}
	return out
}

// Sizes describes the lengths of documents: "48 kB document", or "1,000 documents of 310 B to 2.1 kB
// (median 1.2 kB)".
func Sizes(docs []codec.Document) string {
	if len(docs) == 1 {
		return advice.FormatBytes(int64(len(docs[0].Body))) + " document"
	}
	sizes := sortedSizes(docs)
	smallest, largest := advice.FormatBytes(sizes[0]), advice.FormatBytes(sizes[len(sizes)-1])
	median := advice.FormatBytes(sizes[len(sizes)/2])
	if smallest == largest {
		return fmt.Sprintf("%d documents of %s", len(docs), smallest)
	}
	return fmt.Sprintf("%d documents of %s to %s (median %s)", len(docs), smallest, largest, median)
}

// describeSize names the documents in a sentence: "48 kB document", or "238 B documents" by their
// median.
func describeSize(docs []codec.Document) string {
	text := advice.FormatBytes(sortedSizes(docs)[len(docs)/2]) + " document"
	if len(docs) > 1 {
		text += "s"
	}
	return text
}
