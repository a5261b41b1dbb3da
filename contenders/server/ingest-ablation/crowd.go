package main

import (
	"bytes"
	"time"

	"github.com/tarebench/tare/app/ingest"
)

// plenty is how many commas per record make a body look as if it had more
// records than a batch may have; an ordinary record has about 20.
const plenty = 64

// crowded reports whether body is an array of more than most elements, so that
// it need not be decoded to be refused. Most bodies have too few commas for
// that to need a closer look.
func crowded(body []byte, most int) bool {
	if bytes.Count(body, []byte(",")) <= plenty*most {
		return false
	}
	if start := bytes.TrimLeft(body, " \t\r\n"); len(start) == 0 || start[0] != '[' {
		return false
	}
	depth, elements := 0, 1
	quoted, escaped := false, false
	for _, c := range body {
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == 1:
			if elements++; elements > most {
				return true
			}
		}
	}
	return false
}

// many is a batch of so many records, for the service to refuse.
type many int

var _ ingest.Batch = many(0)

func (m many) Len() int                   { return int(m) }
func (many) Head(int) (string, time.Time) { return "", time.Time{} }
func (many) Metadata(int) ([]byte, error) { return nil, nil }
