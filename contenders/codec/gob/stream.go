//go:build stream

package main

import (
	"bytes"
	"encoding/gob"
	"io"
	"reflect"
)

// out is one stream of messages, whose types were described once.
var out struct {
	*gob.Encoder
	bytes.Buffer
	described map[reflect.Type]bool
}

// in is the other end, for each type that is filled. It has read the descriptions.
var in = map[reflect.Type]*reader{}

// reader is a stream that is handed a message at a time. It reads single bytes, so that
// the decoder reads no further than a message.
type reader struct {
	*gob.Decoder
	bytes.Reader
}

// describe writes a message of each type that messages of t can have within, and returns
// what it wrote.
func describe(t reflect.Type) ([]byte, error) {
	e := gob.NewEncoder(&out.Buffer)
	out.Reset()
	if out.Encoder == nil {
		out.Encoder, out.described = e, map[reflect.Type]bool{}
	}
	for _, v := range []any{reflect.New(t).Interface(), &[]any{map[string]any{"a": 1}, []any{1}}} {
		if err := e.Encode(v); err != nil {
			return nil, err
		}
	}
	return bytes.Clone(out.Bytes()), nil
}

func marshal(v any) ([]byte, error) {
	err := write(v)
	return bytes.Clone(out.Bytes()), err
}

func stream(w io.Writer, v any) error {
	if err := write(v); err != nil {
		return err
	}
	_, err := w.Write(out.Bytes())
	return err
}

// write puts a message into out. The first of its type is written twice: what describes
// the type goes to nobody, as the other end knows it.
func write(v any) error {
	t := reflect.Indirect(reflect.ValueOf(v)).Type()
	if out.Encoder == nil || !out.described[t] {
		if _, err := describe(t); err != nil {
			return err
		}
		for _, first := range []any{reflect.New(t).Interface(), &[]any{map[string]any{"a": 1}, []any{1}}} {
			if err := out.Encode(first); err != nil {
				return err
			}
		}
		out.described[t] = true
	}
	out.Reset()
	return out.Encode(v)
}

func unmarshal(data []byte, into any) error {
	t := reflect.TypeOf(into).Elem()
	r := in[t]
	if r == nil {
		descriptions, err := describe(t)
		if err != nil {
			return err
		}
		r = &reader{}
		r.Decoder = gob.NewDecoder(&r.Reader)
		r.Reader.Reset(descriptions)
		for _, first := range []any{reflect.New(t).Interface(), new([]any)} {
			if err := r.Decode(first); err != nil {
				return err
			}
		}
		in[t] = r
	}
	r.Reader.Reset(data)
	err := r.Decode(into)
	if err != nil {
		delete(in, t) // it reads nothing after an error
	}
	return err
}
