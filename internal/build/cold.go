package build

import (
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// cold reports whether a build says what adopting the contender costs: every
// third-party module was compiled anew, nothing had to be downloaded, and what is not the contender's, the
// SDK and the standard library, was not. printed is what go build -v wrote: the
// packages it compiled. own is the path of the contender's module.
func cold(printed, own string, modules []tare.Module) bool {
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
