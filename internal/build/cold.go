package build

import (
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// isCold reports whether the time of a build is the cost of adopting the libraries. All third-party modules
// were compiled, and nothing else except the contender. Nothing was downloaded.
//
// output is that of go build -v, with one compiled package per line.
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
	isStd := func(line string) bool { // such as encoding/json
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
