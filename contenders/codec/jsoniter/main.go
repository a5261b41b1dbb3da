// Command jsoniter is json-iterator, with one variant per configuration.
package main

import (
	"io"

	jsoniter "github.com/json-iterator/go"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	codec.Variants(map[string]codec.Impl{
		"fastest":    newImpl(jsoniter.ConfigFastest),
		"default":    newImpl(jsoniter.ConfigDefault),
		"compatible": newImpl(jsoniter.ConfigCompatibleWithStandardLibrary),
	})
}

func newImpl(config jsoniter.API) codec.Impl {
	return codec.Impl{
		Marshal:   config.Marshal,
		Stream:    func(w io.Writer, v any) error { return config.NewEncoder(w).Encode(v) },
		Unmarshal: config.Unmarshal,
	}
}
