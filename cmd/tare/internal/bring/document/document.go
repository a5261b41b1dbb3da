// Package document measures every codec on somebody's own JSON documents: it
// infers a Go type from them, or takes one of their module's, builds the
// catalog's codecs for that type in the cache, and puts a study together. What
// a codec makes of the documents is compared with encoding/json; where it
// differs that is told with its speed.
package document

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/bring/advice"
	"github.com/tarebench/tare/kinds/codec"
)

// What is measured of many documents: at most so many, of at most so many bytes
// in all. The type is inferred from all of them.
const (
	poolMost  = 1000
	poolBytes = 32 << 20
)

// Chosen are the documents that are measured: all, or as many as there is room
// for, spread evenly over the whole.
func Chosen(docs []codec.Document) []codec.Document {
	var sum int
	for _, d := range docs {
		sum += len(d.Body)
	}
	n := min(len(docs), poolMost)
	if sum > poolBytes {
		n = min(n, max(1, int(float64(len(docs))*poolBytes/float64(sum))))
	}
	out := make([]codec.Document, n)
	for i := range out {
		out[i] = docs[i*len(docs)/n]
	}
	return out
}

// bodies are documents as a pool holds them: the bytes as they are, but for
// line ends, which become spaces. In valid JSON they are never part of a string.
func bodies(docs []codec.Document) [][]byte {
	out := make([][]byte, len(docs))
	for i, d := range docs {
		out[i] = bytes.ReplaceAll(d.Body, []byte("\n"), []byte(" "))
	}
	return out
}

// Sizes says how large documents are: "48 kB document", or "1,000 documents of
// 310 B to 2.1 kB (median 1.2 kB)".
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

// subject is the documents in a sentence: "48 kB document", or "238 B
// documents" by their median.
func subject(docs []codec.Document) string {
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
