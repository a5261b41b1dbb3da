package openapi

import (
	"fmt"
	"regexp"
	"strings"
)

// Bounds of work that a few bytes of a document can repeat.
const (
	maxBase      = 1024 // bytes of a server's path, which begins each route
	maxServers   = 1000 // compared with the first
	maxVariables = 8 << 10
)

// basePath returns the path of the server of n, which is the document, a path item or an
// operation: that of the first server if n lists several, and outer if it lists none.
func (d *Document) basePath(n *node, outer string) string {
	name := "servers"
	if d.swagger {
		if name = "basePath"; n != d.root {
			return outer
		}
	}
	f, ok := n.find(name)
	if !ok {
		return outer
	}
	servers := f.value.items()
	if !d.swagger && len(servers) == 0 {
		return outer
	}
	path, known := d.bases[f.value]
	if !known {
		if path = trimPath(f.value.scalar()); !d.swagger {
			path = d.firstServer(servers)
		}
		if len(path) > maxBase {
			d.reader.Fail(f.at, fmt.Sprintf("the path of the server has more than %d bytes", maxBase), "write a shorter one")
		}
		d.bases[f.value] = path
	}
	return path
}

// firstServer returns the path of the first server. If another server has another path, it adds
// a note.
func (d *Document) firstServer(servers []field) (first string) {
	for i, f := range servers[:min(len(servers), maxServers)] {
		path := trimPath(urlPath(fillVariables(f.value)))
		if i == 0 {
			first = path
		} else if path != first {
			d.Notes = append(d.Notes, fmt.Sprintf("%s:%d:%d: this server has its paths below %q; those of the first one, below %q, are measured", d.Name, f.value.at.Line, f.value.at.Col, path+"/", first+"/"))
			break
		}
	}
	return first
}

// fillVariables returns the URL of a server with its variables replaced by their
// defaults. Once these add up to more than maxVariables bytes, the variables that follow
// stay as they are.
func fillVariables(server *node) string {
	variables, added := server.get("variables"), 0
	return variable.ReplaceAllStringFunc(server.get("url").scalar(), func(name string) string {
		value := variables.get(name[1 : len(name)-1]).get("default")
		if value == nil || added+len(value.text) > maxVariables {
			return name
		}
		added += len(value.text)
		return value.text
	})
}

var variable = regexp.MustCompile(`\{[^{}]*\}`)

// urlPath returns the path of a URL, which may have braces.
func urlPath(url string) string {
	url, _, _ = strings.Cut(url, "?")
	url, _, _ = strings.Cut(url, "#")
	scheme, rest, absolute := strings.Cut(url, "//")
	if !absolute || scheme != "" && !strings.HasSuffix(scheme, ":") {
		return url
	}
	_, path, _ := strings.Cut(rest, "/")
	return path
}

// trimPath returns a path as a prefix of others: /v1, or "" for none.
func trimPath(path string) string {
	path = strings.Trim(strings.TrimPrefix(path, "./"), "/")
	if path == "" || path == "." {
		return ""
	}
	return "/" + path
}
