package nethttp

import (
	"bytes"
	"time"

	"github.com/tarebench/tare/app/ingest"
)

// A body of 1 MB can be an array of half a million records that say nothing,
// which decoded take hundreds of times as much. What has so many that it will
// be refused anyway is therefore not decoded. Looking costs next to nothing:
// an ordinary body has few enough commas for no closer look.

// commas is how many commas per record that a batch may have are no reason to
// look closer. A record of the app has about 20.
const commas = 64

// crowded reports whether body, which need not be JSON, is an array of more
// than most elements.
func crowded(body []byte, most int) bool {
	if bytes.Count(body, []byte(",")) <= commas*most {
		return false
	}
	elements, depth := 1, 0
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"':
			if i = stringEnd(body, i+1); i < 0 {
				return false // it does not end: no JSON
			}
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth == 1 {
				if elements++; elements > most {
					return body[firstByte(body)] == '['
				}
			}
		}
	}
	return false
}

// stringEnd is where the quote is that ends the string whose first character is
// at i; -1: there is none.
func stringEnd(body []byte, i int) int {
	for {
		n := bytes.IndexByte(body[i:], '"')
		if n < 0 {
			return -1
		}
		escapes := 0
		for k := i + n - 1; k >= i && body[k] == '\\'; k-- {
			escapes++
		}
		if i += n; escapes%2 == 0 {
			return i
		}
		i++
	}
}

// firstByte is where the first byte is that is no white space.
func firstByte(body []byte) int {
	return bytes.IndexFunc(body, func(r rune) bool { return r != ' ' && r != '\t' && r != '\n' && r != '\r' })
}

// crowd is a batch of so many records, of which nothing else is known: the
// service refuses it for their number.
type crowd int

var _ ingest.Batch = crowd(0)

// Len is the number of records.
func (c crowd) Len() int { return int(c) }

// Head is not asked for.
func (crowd) Head(int) (string, time.Time) { return "", time.Time{} }

// Metadata is not asked for.
func (crowd) Metadata(int) ([]byte, error) { return nil, nil }
