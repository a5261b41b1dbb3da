package main

import (
	"fmt"

	fflib "github.com/pquerna/ffjson/fflib/v1"
)

// list is a complete document. P is *T, with generated methods. ffjson generates code only for structs, and
// would use encoding/json for a slice. So list handles brackets and commas, and generated code each item.
type list[T any, P generated[T]] []T

type generated[T any] interface {
	*T
	MarshalJSONBuf(buf fflib.EncodingBuffer) error
	UnmarshalJSONFFLexer(fs *fflib.FFLexer, state fflib.FFParseState) error
}

// MarshalJSONBuf appends the JSON of l to buf. ffjson.Marshal calls it.
func (l *list[T, P]) MarshalJSONBuf(buf fflib.EncodingBuffer) error {
	buf.WriteString("[")
	for i := range *l {
		if i > 0 {
			buf.WriteString(",")
		}
		if err := P(&(*l)[i]).MarshalJSONBuf(buf); err != nil {
			return err
		}
	}
	buf.WriteString("]")
	return nil
}

// UnmarshalJSONFFLexer decodes an array for ffjson.Unmarshal. The names of ffjson's tokens are exchanged:
// FFTok_left_brace is [, and FFTok_left_bracket is {.
func (l *list[T, P]) UnmarshalJSONFFLexer(fs *fflib.FFLexer, _ fflib.FFParseState) error {
	*l = list[T, P]{}
	tok := fs.Scan()
	if tok != fflib.FFTok_left_brace {
		return unexpectedToken(fs, tok)
	}
	for {
		switch tok = fs.Scan(); {
		case tok == fflib.FFTok_right_brace && len(*l) == 0:
			return nil // an empty array
		case tok != fflib.FFTok_left_bracket:
			return unexpectedToken(fs, tok)
		}
		var zero T
		*l = append(*l, zero)
		if err := P(&(*l)[len(*l)-1]).UnmarshalJSONFFLexer(fs, fflib.FFParse_want_key); err != nil {
			return err
		}
		switch tok = fs.Scan(); tok {
		case fflib.FFTok_comma: // another item follows
		case fflib.FFTok_right_brace:
			return nil
		default:
			return unexpectedToken(fs, tok)
		}
	}
}

// unexpectedToken returns an error with the position of the lexer.
func unexpectedToken(fs *fflib.FFLexer, tok fflib.FFTok) error {
	return fs.WrapErr(fmt.Errorf("unexpected token: %v", tok))
}
