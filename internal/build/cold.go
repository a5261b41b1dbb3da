package build

import (
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// isCold reports whether the time of a build is the cost of adopting the contender's libraries. The
// build then compiled all third-party modules, but neither tare's SDK nor the standard library, and
// downloaded nothing.
//
// output is the output of go build -v, which lists the compiled packages, one per line. modulePath
// is the path of the contender's module. modules are the modules in its binary.
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
		isContender := line == modulePath || strings.HasPrefix(line, modulePath+"/")
		isPackage := line != "" && !isMessage
		return isPackage && !hasDomain && !isContender
	}
	compiledSDK := slices.ContainsFunc(SDKDirs(), func(dir string) bool { return wasCompiled(sdkPath + "/" + dir) })
	return !compiledSDK && !slices.ContainsFunc(compiled, isStd)
}
