package openapi

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// Bounds of work that a few bytes of a document can repeat.
const (
	maxBase      = 1024    // bytes of a server's path, which begins each route
	maxServers   = 1000    // servers that are compared with the first
	maxVariables = 8 << 10 // bytes of the values of a server's variables
)

// basePath returns the path of the first server of n, which is the document, a path item or an operation. It
// returns outer, the path of the servers around n, if n lists no servers.
func (d *Document) basePath(n *node, outer string) string {
	if d.swagger && n != d.root {
		return outer // only a document has one
	}
	name := "servers"
	if d.swagger {
		name = "basePath"
	}
	f, ok := n.find(name)
	if !ok {
		return outer
	}
	servers := f.value.items()
	if !d.swagger && len(servers) == 0 {
		return outer
	}
	path, ok := d.bases[f.value]
	if !ok {
		if d.swagger {
			path = trimPath(f.value.scalar())
		} else {
			path = d.firstServer(servers)
		}
		if len(path) > maxBase {
			d.reader.Fail(f.at, fmt.Sprintf("the path of the server has more than %d bytes", maxBase), "write a shorter one")
		}
		d.bases[f.value] = path
	}
	return path
}

// firstServer returns the path of the first server. If another server has a different path, it adds a note.
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

// fillVariables returns the URL of a server with its variables, {name}, replaced by their defaults. Variables
// without a default stay, and so do those beyond maxVariables bytes of defaults.
func fillVariables(server *node) string {
	variables, added := server.get("variables"), 0 // added: bytes of the defaults so far
	return variable.ReplaceAllStringFunc(server.get("url").scalar(), func(name string) string {
		value := variables.get(name[1 : len(name)-1]).get("default")
		if value == nil || added+len(value.text) > maxVariables {
			return name
		}
		added += len(value.text)
		return value.text
	})
}

// variable matches a variable in the URL of a server.
var variable = lazyregexp.New(`\{[^{}]*\}`)

// urlPath returns the path of a URL, without query and fragment. The URL may have braces, which package url
// rejects, and may be only a path.
func urlPath(url string) string {
	url, _, _ = strings.Cut(url, "?")
	url, _, _ = strings.Cut(url, "#")
	scheme, rest, hasHost := strings.Cut(url, "//")
	if !hasHost || scheme != "" && !strings.HasSuffix(scheme, ":") {
		return url
	}
	_, path, _ := strings.Cut(rest, "/")
	return path
}

// trimPath returns a path as the prefix of routes: /v1, or "" for the root.
func trimPath(path string) string {
	path = strings.Trim(strings.TrimPrefix(path, "./"), "/")
	if path == "" || path == "." {
		return ""
	}
	return "/" + path
}
