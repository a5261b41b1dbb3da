//go:build stream

package main

import (
	"bytes"
	"encoding/gob"
	"io"
	"reflect"
)

// A gob stream describes a type once, before its first value. The sender writes descriptions before the
// measured messages and discards them. A receiver gets them from a separate encoder. They fit, because gob
// numbers types per process.

var sender struct {
	encoder   *gob.Encoder          // nil before the first message
	buffer    bytes.Buffer          // contains the last message
	described map[reflect.Type]bool // types whose descriptions have been sent
}

// receivers has a receiving end of the stream for each type of target. It has read the descriptions of the types.
var receivers = map[reflect.Type]*receiver{}

// receiver decodes one message at a time. bytes.Reader is an io.ByteReader, so the decoder has no buffer and
// reads only the message.
type receiver struct {
	decoder *gob.Decoder // reads from input
	input   bytes.Reader
}

// firstMessages returns t and the types of any values in it. Their encoding has all descriptions.
func firstMessages(t reflect.Type) []any {
	return []any{reflect.New(t).Interface(), &[]any{map[string]any{"a": 1}, []any{1}}}
}

func encodeFirst(e *gob.Encoder, t reflect.Type) error {
	for _, v := range firstMessages(t) {
		if err := e.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// encodeMessage returns the message of v.
func encodeMessage(v any) ([]byte, error) {
	err := sendMessage(v)
	return bytes.Clone(sender.buffer.Bytes()), err
}

func writeMessage(w io.Writer, v any) error {
	if err := sendMessage(v); err != nil {
		return err
	}
	_, err := w.Write(sender.buffer.Bytes())
	return err
}

// sendMessage encodes v into the sender's buffer. The first time it sends and discards first messages, so that
// v has no descriptions.
func sendMessage(v any) error {
	if sender.encoder == nil {
		sender.encoder, sender.described = gob.NewEncoder(&sender.buffer), map[reflect.Type]bool{}
	}
	t := reflect.Indirect(reflect.ValueOf(v)).Type()
	if !sender.described[t] {
		if err := encodeFirst(sender.encoder, t); err != nil {
			return err
		}
		sender.described[t] = true
	}
	sender.buffer.Reset()
	return sender.encoder.Encode(v)
}

// decodeMessage decodes a message into target.
func decodeMessage(data []byte, target any) (err error) {
	t := reflect.TypeOf(target).Elem()
	r := receivers[t]
	if r == nil {
		if r, err = newReceiver(t); err != nil {
			return err
		}
		receivers[t] = r
	}
	r.input.Reset(data)
	err = r.decoder.Decode(target)
	if err != nil {
		delete(receivers, t) // a decoder cannot be used after an error
	}
	return err
}

// newReceiver returns a receiver that has read the descriptions of t, which a separate encoder writes.
func newReceiver(t reflect.Type) (*receiver, error) {
	var descriptions bytes.Buffer
	if err := encodeFirst(gob.NewEncoder(&descriptions), t); err != nil {
		return nil, err
	}
	r := &receiver{}
	r.decoder = gob.NewDecoder(&r.input)
	r.input.Reset(descriptions.Bytes())
	for _, target := range []any{reflect.New(t).Interface(), new([]any)} {
		if err := r.decoder.Decode(target); err != nil {
			return nil, err
		}
	}
	return r, nil
}
