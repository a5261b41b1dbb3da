//go:build !stream

package main

import (
	"bytes"
	"encoding/gob"
	"io"
)

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

func stream(w io.Writer, v any) error { return gob.NewEncoder(w).Encode(v) }

func unmarshal(data []byte, into any) error {
	return gob.NewDecoder(bytes.NewReader(data)).Decode(into)
}
