package response_body

import (
	"bytes"
	"compress/flate"
	"io"
)

type crate struct {
	Label string
	Goods io.ReadCloser
}

func openGoods(packed []byte) (string, io.ReadCloser) {
	return string(packed[:1]), flate.NewReader(bytes.NewReader(packed[1:]))
}

func openCrate(packed []byte) *crate {
	label, goods := openGoods(packed)
	return &crate{label, goods}
}
