package main

import (
	"fmt"
	"time"

	fflib "github.com/pquerna/ffjson/fflib/v1"

	"github.com/pquerna/ffjson/ffjson"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/contenders/server/nethttp-ffjson/model"
)

// batch is an array of records. ffjson generates code for structs only, and
// would hand a slice to encoding/json; so the brackets and commas are read
// here, and every record by what was generated.
type batch []model.Record

var _ ingest.Batch = batch(nil)

func (b batch) Len() int                       { return len(b) }
func (b batch) Head(i int) (string, time.Time) { return b[i].ID, b[i].Timestamp.Time }
func (b batch) Metadata(i int) ([]byte, error) { return ffjson.Marshal(&b[i].Metadata) }

func decode(s *ingest.Service, body []byte) (ingest.Batch, error) {
	if !s.Typed() {
		list, err := array[model.RawRecord](body)
		out := make([]ingest.RawRecord, len(list))
		for i, r := range list {
			out[i] = ingest.RawRecord(r)
		}
		return ingest.Raws(out), err
	}
	list, err := array[model.Record](body)
	return batch(list), err
}

// generated is a pointer to a struct that ffjson generated code for.
type generated[T any] interface {
	*T
	UnmarshalJSONFFLexer(*fflib.FFLexer, fflib.FFParseState) error
}

// array reads a whole body. What ffjson calls a brace is a square bracket, and
// the reverse.
func array[T any, P generated[T]](body []byte) (list []T, err error) {
	lexer := fflib.NewFFLexer(body)
	switch token := lexer.Scan(); token {
	case fflib.FFTok_null:
	case fflib.FFTok_left_brace:
		if list, err = elements[T, P](lexer); err != nil {
			return nil, err
		}
	default:
		return nil, unexpected(lexer, token)
	}
	if token := lexer.Scan(); token != fflib.FFTok_eof {
		return nil, unexpected(lexer, token)
	}
	return list, nil
}

// elements reads an array behind its first bracket, up to its last.
func elements[T any, P generated[T]](lexer *fflib.FFLexer) (list []T, err error) {
	for {
		token := lexer.Scan()
		if token == fflib.FFTok_right_brace && len(list) == 0 {
			return list, nil
		}
		var next T
		list = append(list, next)
		switch token {
		case fflib.FFTok_null:
		case fflib.FFTok_left_bracket:
			if err := P(&list[len(list)-1]).UnmarshalJSONFFLexer(lexer, fflib.FFParse_want_key); err != nil {
				return nil, err
			}
		default:
			return nil, unexpected(lexer, token)
		}
		switch token := lexer.Scan(); token {
		case fflib.FFTok_comma:
		case fflib.FFTok_right_brace:
			return list, nil
		default:
			return nil, unexpected(lexer, token)
		}
	}
}

func unexpected(lexer *fflib.FFLexer, token fflib.FFTok) error {
	return lexer.WrapErr(fmt.Errorf("unexpected token: %v", token))
}
