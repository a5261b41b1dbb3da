package main

import (
	"fmt"

	fflib "github.com/pquerna/ffjson/fflib/v1"
)

// list is a whole document. ffjson generates code for structs only, and would
// hand a slice to encoding/json; so the brackets and commas are ours, and
// every item goes through what was generated.
type list[T any, P generated[T]] []T

// generated is what ffjson makes for a T.
type generated[T any] interface {
	*T
	MarshalJSONBuf(buf fflib.EncodingBuffer) error
	UnmarshalJSONFFLexer(fs *fflib.FFLexer, state fflib.FFParseState) error
}

// MarshalJSONBuf is what ffjson.Marshal looks for.
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

// UnmarshalJSONFFLexer is what ffjson.Unmarshal looks for. What ffjson calls a
// brace is a square bracket, and the reverse.
func (l *list[T, P]) UnmarshalJSONFFLexer(fs *fflib.FFLexer, _ fflib.FFParseState) error {
	*l = list[T, P]{}
	tok := fs.Scan()
	if tok != fflib.FFTok_left_brace {
		return unexpected(fs, tok)
	}
	for {
		switch tok = fs.Scan(); {
		case tok == fflib.FFTok_right_brace && len(*l) == 0:
			return nil
		case tok != fflib.FFTok_left_bracket:
			return unexpected(fs, tok)
		}
		var zero T
		*l = append(*l, zero)
		if err := P(&(*l)[len(*l)-1]).UnmarshalJSONFFLexer(fs, fflib.FFParse_want_key); err != nil {
			return err
		}
		switch tok = fs.Scan(); tok {
		case fflib.FFTok_comma:
		case fflib.FFTok_right_brace:
			return nil
		default:
			return unexpected(fs, tok)
		}
	}
}

func unexpected(fs *fflib.FFLexer, tok fflib.FFTok) error {
	return fs.WrapErr(fmt.Errorf("unexpected token: %v", tok))
}
