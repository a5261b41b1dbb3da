// Package jsonstudy measures every codec on the user's own JSON documents: it infers a Go type from
// them, or takes one of their module's, builds the catalog's codecs for that type in the cache, and
// makes a study. It compares the values of each codec with those of encoding/json, and reports
// differences with its speed.
package jsonstudy

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/advice"
	"github.com/tarebench/tare/kinds/codec"
)

// Bounds of the documents that are measured, in number and in bytes together. The type is inferred
// from all documents.
const (
	maxPool   = 1000
	poolBytes = 32 << 20
)

// Chosen returns the documents that are measured: all, or as many as there is room for, spread
// evenly over all.
func Chosen(docs []codec.Document) []codec.Document {
	var sum int
	for _, d := range docs {
		sum += len(d.Body)
	}
	n := min(len(docs), maxPool)
	if sum > poolBytes {
		n = min(n, max(1, int(float64(len(docs))*poolBytes/float64(sum))))
	}
	out := make([]codec.Document, n)
	for i := range out {
		out[i] = docs[i*len(docs)/n]
	}
	return out
}

// poolBodies returns documents for a pool: the bytes as they are, but for line ends, which become
// spaces. In valid JSON they are never part of a string.
func poolBodies(docs []codec.Document) [][]byte {
	out := make([][]byte, len(docs))
	for i, d := range docs {
		out[i] = bytes.ReplaceAll(d.Body, []byte("\n"), []byte(" "))
	}
	return out
}

// Sizes describes the lengths of documents: "48 kB document", or "1,000 documents of 310 B to 2.1
// kB (median 1.2 kB)".
func Sizes(docs []codec.Document) string {
	if len(docs) == 1 {
		return advice.Bytes(int64(len(docs[0].Body))) + " document"
	}
	sizes := make([]int, len(docs))
	for i, d := range docs {
		sizes[i] = len(d.Body)
	}
	slices.Sort(sizes)
	least, middle, most := advice.Bytes(int64(sizes[0])), advice.Bytes(int64(sizes[len(sizes)/2])), advice.Bytes(int64(sizes[len(sizes)-1]))
	if least == most {
		return fmt.Sprintf("%d documents of %s", len(docs), least)
	}
	return fmt.Sprintf("%d documents of %s to %s (median %s)", len(docs), least, most, middle)
}

// describeSize names the documents in a sentence: "48 kB document", or "238 B documents" by their
// median.
func describeSize(docs []codec.Document) string {
	sizes := make([]int, len(docs))
	for i, d := range docs {
		sizes[i] = len(d.Body)
	}
	slices.Sort(sizes)
	text := advice.Bytes(int64(sizes[len(sizes)/2])) + " document"
	if len(docs) > 1 {
		text += "s"
	}
	return text
}
