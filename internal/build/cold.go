package build

import (
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// isCold reports whether the time of a build is the cost of adopting the contender: all its
// third-party modules were compiled, nothing was downloaded, and neither tare's SDK nor the
// standard library was compiled. printed is the output of go build -v: the packages it compiled.
// own is the path of the contender's module.
func isCold(printed, own string, modules []tare.Module) bool {
	compiled := strings.Split(strings.TrimSpace(printed), "\n")
	if strings.Contains(printed, "go: downloading ") { // the network is not the compiler
		return false
	}
	within := func(path string) bool {
		return slices.ContainsFunc(compiled, func(pkg string) bool { return pkg == path || strings.HasPrefix(pkg, path+"/") })
	}
	for _, m := range modules {
		if m.Path != sdkPath && !within(m.Path) {
			return false
		}
	}
	std := func(pkg string) bool {
		first, _, _ := strings.Cut(pkg, "/")
		message := strings.Contains(pkg, " ") // go: downloading …
		return pkg != "" && !strings.Contains(first, ".") && !message && pkg != own && !strings.HasPrefix(pkg, own+"/")
	}
	sdk := slices.ContainsFunc(SDKDirs(), func(dir string) bool { return within(sdkPath + "/" + dir) })
	return !sdk && !slices.ContainsFunc(compiled, std)
}
