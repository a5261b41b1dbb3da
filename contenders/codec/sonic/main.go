// Command sonic is bytedance/sonic. It compiles each type to machine code at run time. It has one variant per
// configuration.
package main

import (
	"io"

	"github.com/bytedance/sonic"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	codec.Variants(map[string]codec.Impl{
		"default": newImpl(sonic.ConfigDefault),
		"std":     newImpl(sonic.ConfigStd),
		"fastest": newImpl(sonic.ConfigFastest),
	})
}

func newImpl(config sonic.API) codec.Impl {
	return codec.Impl{
		Marshal:   config.Marshal,
		Stream:    func(w io.Writer, v any) error { return config.NewEncoder(w).Encode(v) },
		Unmarshal: config.Unmarshal,
	}
}
