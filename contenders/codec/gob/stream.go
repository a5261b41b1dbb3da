//go:build stream

package main

import (
	"bytes"
	"encoding/gob"
	"io"
	"reflect"
)

// A stream of gob describes a type once, before the first value of the type.
// In this benchmark the sender writes the descriptions before the first measured message and discards
// them. A receiver therefore needs descriptions from elsewhere: a separate encoder writes
// them. They fit, because gob numbers types per process and not per encoder.

// sender is the sending end of the stream.
var sender struct {
	encoder   *gob.Encoder          // nil before the first message
	buffer    bytes.Buffer          // contains the last message
	described map[reflect.Type]bool // types whose descriptions have been sent
}

// receivers has a receiving end of the stream, which has read the descriptions, for each
// type of target.
var receivers = map[reflect.Type]*receiver{}

// receiver decodes messages that are passed to it one at a time. As bytes.Reader is an
// io.ByteReader, the decoder has no buffer and reads only the message.
type receiver struct {
	decoder *gob.Decoder // reads from input
	input   bytes.Reader
}

// firstMessages returns messages of t and of the types that a value of type any in t can
// have. Their encoding contains the descriptions of all these types.
func firstMessages(t reflect.Type) []any {
	return []any{reflect.New(t).Interface(), &[]any{map[string]any{"a": 1}, []any{1}}}
}

// encodeFirst writes the first messages of t.
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

// writeMessage writes the message of v to w.
func writeMessage(w io.Writer, v any) error {
	if err := sendMessage(v); err != nil {
		return err
	}
	_, err := w.Write(sender.buffer.Bytes())
	return err
}

// sendMessage encodes v into the buffer of the sender. Before the first message of a type
// it sends and discards the first messages, so that v is sent without descriptions.
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

// newReceiver returns a receiver that has read the descriptions of t, from first messages that a separate encoder
// writes.
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
