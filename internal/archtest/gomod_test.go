package archtest

import "strings"

// Module is the part of a go.mod file that the rules need.
type Module struct {
	Dir      string // directory of the go.mod; "." for the root
	Path     string
	Requires map[string]string // versions, by module
	Replaces map[string]string // replacements, by module
}

// parseMod returns the verbs of a go.mod or go.work file with their arguments. Each line of a block gets the
// verb of the block. Quoted paths are not supported: this repository has none.
func parseMod(src string) (verbs [][]string) {
	block := ""
	for line := range strings.Lines(src) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			// an empty line or a comment
		case block != "" && words[0] == ")":
			block = ""
		case block != "":
			verbs = append(verbs, append([]string{block}, words...))
		case len(words) == 2 && words[1] == "(":
			block = words[0]
		default:
			verbs = append(verbs, words)
		}
	}
	return verbs
}

// readModule parses src, the go.mod in dir.
func readModule(dir, src string) Module {
	m := Module{Dir: dir, Requires: map[string]string{}, Replaces: map[string]string{}}
	for _, v := range parseMod(src) {
		switch {
		case v[0] == "module" && len(v) == 2:
			m.Path = v[1]
		case v[0] == "require" && len(v) == 3:
			m.Requires[v[1]] = v[2]
		case v[0] == "replace":
			for i, word := range v {
				if word == "=>" && i+1 < len(v) {
					m.Replaces[v[1]] = v[i+1]
				}
			}
		}
	}
	return m
}

// needsDownload reports whether the module has a requirement that no directory replaces.
func (m Module) needsDownload() bool {
	for required := range m.Requires {
		if !strings.HasPrefix(m.Replaces[required], ".") {
			return true
		}
	}
	return false
}
