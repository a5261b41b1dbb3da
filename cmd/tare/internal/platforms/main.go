// Command platforms type-checks every package of the workspace, including tests,
// for other operating systems. It does not compile the packages, because compiling takes
// minutes for each system and finds hardly any further errors.
//
//	go run ./cmd/tare/internal/platforms darwin/arm64 windows/amd64
package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if err := checkPlatforms(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "platforms:", err)
		os.Exit(1)
	}
}

// checkPlatforms type-checks the workspace for each platform, and prints the errors.
func checkPlatforms(platforms []string, stdout io.Writer) error {
	if len(platforms) == 0 {
		return errors.New("name a platform, as darwin/arm64")
	}
	failed := 0
	for _, platform := range platforms {
		goos, goarch, ok := strings.Cut(platform, "/")
		if !ok {
			return fmt.Errorf("%s: a platform is named as darwin/arm64", platform)
		}
		n, faults, err := checkPackages(".", goos, goarch, "work")
		if err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
		for _, f := range faults {
			fmt.Fprintf(stdout, "%s: %v\n", platform, f)
		}
		fmt.Fprintf(stdout, "%s: %d packages, %d errors\n", platform, n, len(faults))
		failed += len(faults)
	}
	if failed > 0 {
		return fmt.Errorf("%d errors", failed)
	}
	return nil
}

// checkPackages type-checks the packages that patterns match in the module or workspace of dir,
// including tests, without cgo. It returns the number of packages and the errors in files of the
// workspace, but not errors in packages that these import from other modules.
func checkPackages(dir, goos, goarch string, patterns ...string) (n int, faults []packages.Error, err error) {
	ours, err := moduleDirs(dir)
	if err != nil {
		return 0, nil, err
	}
	config := &packages.Config{
		Mode:  packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax,
		Dir:   dir,
		Env:   append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		Tests: true,
		ParseFile: func(set *token.FileSet, name string, text []byte) (*ast.File, error) {
			file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
			if file != nil && !isBelow(name, ours) {
				dropBodies(file)
			}
			return file, err
		},
	}
	list, err := packages.Load(config, patterns...)
	if err != nil {
		return 0, nil, err
	}
	seen := map[string]bool{} // a package and its test variant have the same errors
	for _, p := range list {
		for _, f := range p.Errors {
			isGenerated := filepath.IsAbs(f.Pos) && !isBelow(f.Pos, ours) // go test's main function
			if !seen[f.Error()] && !isGenerated {
				seen[f.Error()] = true
				faults = append(faults, f)
			}
		}
	}
	return len(list), faults, nil
}

// moduleDirs returns the directories of the workspace's modules.
func moduleDirs(dir string) ([]string, error) {
	list, err := packages.Load(&packages.Config{Mode: packages.NeedModule, Dir: dir}, "work")
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, p := range list {
		if p.Module != nil {
			dirs = append(dirs, p.Module.Dir)
		}
	}
	return dirs, nil
}

func isBelow(name string, dirs []string) bool {
	for _, dir := range dirs {
		if strings.HasPrefix(name, dir+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// dropBodies removes the bodies of functions from a file. The type checker needs only the declarations of
// other modules.
func dropBodies(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
}
