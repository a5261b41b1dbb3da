//go:build !stream

package main

import (
	"bytes"
	"encoding/gob"
	"io"
)

// encodeMessage returns v as a stream of one message.
func encodeMessage(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

func writeMessage(w io.Writer, v any) error { return gob.NewEncoder(w).Encode(v) }

func decodeMessage(data []byte, target any) error {
	return gob.NewDecoder(bytes.NewReader(data)).Decode(target)
}
