package rpc

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/serving"
	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/wire"
)

// Main runs a program with one implementation of the service, and exits. If tare measures the program, it
// serves or calls as tare requests. Otherwise it serves as the command line says.
func Main(f Face) { contender.Main(f.newProgram()) }

// All is Main for several implementations by name. A study selects one as a variant of the program: grpc is
// the first variant of the implementation grpc, and grpc-VARIANT another. Without tare the program serves all
// with one store, or those of flag -face.
func All(faces map[string]Face) { contender.Main(newJointProgram(faces)) }

func (f Face) newProgram() contender.Program {
	find := func(variant string) (Face, string) { return f, variant }
	return withClients(server.Host{Apps: newApps(find, f.Store), Variants: f.Variants}, find)
}

// implementation is a Face with its variant, or "" without any.
type implementation struct {
	face    Face
	variant string
}

func newJointProgram(faces map[string]Face) contender.Program {
	var h server.Host
	var store users.Opener                         // the first one of a face
	implementations := map[string]implementation{} // key is the program's variant
	for _, name := range slices.Sorted(maps.Keys(faces)) {
		f := faces[name]
		h.Together = append(h.Together, name)
		if store == nil {
			store = f.Store
		}
		variants := f.Variants
		if len(variants) == 0 {
			variants = []string{""}
		}
		for i, v := range variants {
			jointName := name
			if i > 0 {
				jointName += "-" + v
			}
			h.Variants = append(h.Variants, jointName)
			implementations[jointName] = implementation{face: f, variant: v}
		}
	}
	find := func(variant string) (Face, string) {
		found := implementations[variant]
		return found.face, found.variant
	}
	h.Apps = newApps(find, store)
	return withClients(h, find)
}

// newApps returns the app users. find returns the implementation of a program's variant, and its own variant.
func newApps(find func(variant string) (Face, string), store users.Opener) server.Apps {
	return server.Apps{serving.App(func(o server.Options, s *users.Service) (server.Server, error) {
		var f Face
		f, o.Variant = find(o.Variant)
		return f.Serve(o, s)
	}, store, func(variant string, addr server.Address) string { // the command that a user can try
		f, _ := find(variant)
		return f.tryCommand(cmp.Or(variant, "ada"), addr)
	}, func(variant string) []string { // the routes
		f, _ := find(variant)
		return f.listRoutes()
	})}
}

const service = "tare.users.v1.UserService"

// listRoutes returns the routes of gRPC and Connect. It returns nil for HTTP, which package users defines.
func (f Face) listRoutes() (list []string) {
	if len(f.Protocols) == 0 || slices.Contains(f.Protocols, HTTP) {
		return nil
	}
	for _, method := range []string{"CreateUser", "GetUser", "UpdateUser", "DeleteUser", "ListUsers"} {
		list = append(list, "POST /"+service+"/"+method)
	}
	return list
}

// tryCommand returns a shell command that creates a user with a new address, beginning with name. It uses curl
// for HTTP or Connect with JSON, else grpcurl.
func (f Face) tryCommand(name string, addr server.Address) string {
	body := fmt.Sprintf(`-d '{"name":"Ada","email":"%s-'$(date +%%s)'@example.org"}'`, name)
	const method = service + "/CreateUser"
	switch curl := addr.Curl() + " -H 'Content-Type: application/json' " + body + " " + addr.URL(); {
	case len(f.Protocols) == 0, slices.Contains(f.Protocols, HTTP):
		return curl + "/v1/users"
	case slices.Contains(f.Protocols, ConnectJSON):
		return curl + "/" + method
	}
	security := "-plaintext"
	if addr.Encrypted {
		security = "-insecure" // encrypted, with any certificate
	}
	return fmt.Sprintf("grpcurl %s%s %s %s %s", security, addr.Header(), body, addr.Host, method)
}

// withClients returns the program that serves h. For workloads with [SetAddr] it calls with the variant's
// client.
func withClients(h server.Host, find func(variant string) (Face, string)) contender.Program {
	h.Kind = Kind
	h.HTTP2 = func(variant string) bool {
		f, _ := find(variant)
		speaksOther := slices.ContainsFunc(f.Protocols, func(p string) bool { return p != GRPC })
		return len(f.Protocols) > 0 && !speaksOther // only gRPC requires HTTP/2
	}
	p := h.Program()
	p.Prepares = func(w wire.Workload) bool { return w.Set[SetAddr] != "" }
	p.Prepare = func(variant string, w wire.Workload, bodies [][]byte) (contender.Work, error) {
		f, variant := find(variant)
		if f.Dial == nil {
			return contender.Work{}, fmt.Errorf("it brings no client: %w", contender.ErrUnsupported)
		}
		return f.prepareClient(variant, w, bodies)
	}
	return p
}
