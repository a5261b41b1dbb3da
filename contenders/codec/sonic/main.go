// Command sonic is bytedance/sonic, which compiles each type to machine code
// at run time, one variant per configuration.
package main

import (
	"io"

	"github.com/bytedance/sonic"

	"github.com/tarebench/tare/contender/codec"
)

func main() {
	codec.Variants(map[string]codec.Impl{
		"default": impl(sonic.ConfigDefault),
		"std":     impl(sonic.ConfigStd),
		"fastest": impl(sonic.ConfigFastest),
	})
}

func impl(config sonic.API) codec.Impl {
	return codec.Impl{
		Marshal:   config.Marshal,
		Stream:    func(w io.Writer, v any) error { return config.NewEncoder(w).Encode(v) },
		Unmarshal: config.Unmarshal,
	}
}
