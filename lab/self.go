package lab

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/build"
)

// Self is the Sources of a program that contains its own contenders. Each is the running executable,
// started again as the variant with the entry's name. Such a program must check its environment for
// [wire.EnvWire] before it does anything else. If the variable is set, it must serve as a contender.
//
// [wire.EnvWire]: https://pkg.go.dev/github.com/tarebench/tare/contender/wire
type Self struct{}

var _ Sources = Self{}

// Program returns this executable as e's variant.
func (Self) Program(_ context.Context, kind, _ string, e tare.Entry) (build.Program, error) {
	path, err := os.Executable()
	if err != nil {
		return build.Program{}, fmt.Errorf("find this executable: %w", err)
	}
	sum, size, err := atomicfile.Digest(path)
	if err != nil {
		return build.Program{}, err
	}
	c := tare.Contender{
		ID: e.ID, Kind: kind, Role: tare.RoleContender, Name: e.Leaf(), Variant: e.Leaf(), Declared: tare.Declared{Expect: e.Expect},
		Why: "this program itself", Build: tare.Build{Go: runtime.Version(), SHA256: sum, BinaryBytes: size},
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			c.Modules = append(c.Modules, tare.Module{Path: m.Path, Version: m.Version})
		}
	}
	return build.Program{Path: path, Variant: e.Leaf(), Cached: true, Contender: c}, nil
}
