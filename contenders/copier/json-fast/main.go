// Command json-fast copies by a round trip through bytedance/sonic, which compiles
// each type to machine code at run time. It starts from a Go value, not from C
// memory.
package main

import (
	"github.com/bytedance/sonic"

	"github.com/tarebench/tare/contender/copier"
)

func main() {
	copier.Main(copier.Impl{Types: copier.RoundTrips(func(src, dst any) error {
		text, err := sonic.ConfigDefault.Marshal(src)
		if err != nil {
			return err
		}
		return sonic.ConfigDefault.Unmarshal(text, dst)
	})})
}
