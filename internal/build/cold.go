package build

import (
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// isCold reports whether the time of a build is the cost of adopting the contender: all its
// third-party modules were compiled, nothing was downloaded, and neither tare's SDK nor the
// standard library was compiled. output is the output of go build -v, which lists the compiled
// packages. modulePath is the path of the contender's module.
func isCold(output, modulePath string, modules []tare.Module) bool {
	if strings.Contains(output, "go: downloading ") {
		return false
	}
	compiled := strings.Split(strings.TrimSpace(output), "\n")
	wasCompiled := func(path string) bool {
		return slices.ContainsFunc(compiled, func(pkg string) bool { return pkg == path || strings.HasPrefix(pkg, path+"/") })
	}
	for _, m := range modules {
		if m.Path != sdkPath && !wasCompiled(m.Path) {
			return false
		}
	}
	isStd := func(line string) bool { // a package of the standard library, such as encoding/json
		first, _, _ := strings.Cut(line, "/")
		hasDomain := strings.Contains(first, ".")
		isMessage := strings.Contains(line, " ")
		isOwn := line == modulePath || strings.HasPrefix(line, modulePath+"/")
		isPackage := line != "" && !isMessage
		return isPackage && !hasDomain && !isOwn
	}
	compiledSDK := slices.ContainsFunc(SDKDirs(), func(dir string) bool { return wasCompiled(sdkPath + "/" + dir) })
	return !compiledSDK && !slices.ContainsFunc(compiled, isStd)
}
