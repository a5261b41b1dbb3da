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

// Main serves or calls for the lab that started this process, and exits. If no lab started it, Main serves as the
// command line defines.
func Main(f Face) { contender.Main(f.newProgram()) }

// All is Main for a program with several implementations. A lab selects one of them for each workload, as a variant:
// NAME for its first variant, NAME-VARIANT for others. A program that no lab started serves all of them with one
// store, unless flag -face selects some.
func All(faces map[string]Face) { contender.Main(newJointProgram(faces)) }

func (f Face) newProgram() contender.Program {
	find := func(variant string) (Face, string) { return f, variant }
	return withClients(server.Host{Apps: newApps(find, f.Store), Variants: f.Variants}, find)
}

func newJointProgram(faces map[string]Face) contender.Program {
	var h server.Host
	var store users.Opener
	type target struct {
		face    Face
		variant string // variant of face; "" if it has only one
	}
	targets := map[string]target{} // by variant of the program
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
			targets[jointName] = target{face: f, variant: v}
		}
	}
	find := func(variant string) (Face, string) { return targets[variant].face, targets[variant].variant }
	h.Apps = newApps(find, store)
	return withClients(h, find)
}

// newApps returns the app users. find returns the implementation for a variant of the program, and its own variant.
func newApps(find func(variant string) (Face, string), store users.Opener) server.Apps {
	return server.Apps{serving.App(func(o server.Options, s *users.Service) (server.Server, error) {
		var f Face
		f, o.Variant = find(o.Variant)
		return f.Serve(o, s)
	}, store, func(variant string, addr server.Address) string {
		f, _ := find(variant)
		return f.tryCommand(cmp.Or(variant, "ada"), addr)
	}, func(variant string) []string {
		f, _ := find(variant)
		return f.listRoutes()
	})}
}

// service is the name of the service in gRPC and Connect requests.
const service = "tare.users.v1.UserService"

// listRoutes returns the routes of an implementation of only gRPC or Connect. It returns nil if f speaks HTTP, over
// the paths of package users, or if its protocols are not known.
func (f Face) listRoutes() (list []string) {
	if len(f.Protocols) == 0 || slices.Contains(f.Protocols, HTTP) {
		return nil
	}
	for _, method := range []string{"CreateUser", "GetUser", "UpdateUser", "DeleteUser", "ListUsers"} {
		list = append(list, "POST /"+service+"/"+method)
	}
	return list
}

// tryCommand returns a shell command that creates a user, with a new e-mail address each time. It uses curl if f
// speaks HTTP or Connect with JSON, else grpcurl. name is the start of the address.
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

// withClients returns the program of h, extended by the client of each variant for workloads with [SetAddr].
func withClients(h server.Host, find func(variant string) (Face, string)) contender.Program {
	h.Kind = Kind
	h.HTTP2 = func(variant string) bool {
		f, _ := find(variant)
		speaksOther := slices.ContainsFunc(f.Protocols, func(p string) bool { return p != GRPC })
		return len(f.Protocols) > 0 && !speaksOther
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
