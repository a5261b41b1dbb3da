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

// Main serves or calls for the lab that started this process, or serves what the command line defines if no
// lab did, and exits.
func Main(f Face) { contender.Main(f.newProgram()) }

// All is Main for several faces in one program. A lab selects one of them for each workload, as a variant: a
// face's name, or name-variant for other variants than the first. A program that no lab started serves them
// together over one store; flag -face limits that.
func All(faces map[string]Face) { contender.Main(newJointProgram(faces)) }

func (f Face) newProgram() contender.Program {
	find := func(variant string) (Face, string) { return f, variant }
	return withClients(server.Host{Apps: newApps(find, f.Store), Variants: f.Variants}, find)
}

func newJointProgram(faces map[string]Face) contender.Program {
	var h server.Host
	var store users.Opener
	type place struct {
		face    Face
		variant string
	}
	places := map[string]place{}
	for _, name := range slices.Sorted(maps.Keys(faces)) {
		f := faces[name]
		h.Together = append(h.Together, name)
		if store == nil {
			store = f.Store
		}
		for i, v := range append(f.Variants, make([]string, max(0, 1-len(f.Variants)))...) {
			called := name
			if i > 0 {
				called += "-" + v
			}
			h.Variants = append(h.Variants, called)
			places[called] = place{f, v}
		}
	}
	find := func(variant string) (Face, string) { return places[variant].face, places[variant].variant }
	h.Apps = newApps(find, store)
	return withClients(h, find)
}

// newApps returns the users service, with the face that find returns for a variant.
func newApps(find func(variant string) (Face, string), store users.Opener) server.Apps {
	return server.Apps{serving.App(func(o server.Options, s *users.Service) (server.Server, error) {
		var f Face
		f, o.Variant = find(o.Variant)
		return f.Serve(o, s)
	}, store, func(variant string, at server.Address) string {
		f, _ := find(variant)
		return f.tryCommand(cmp.Or(variant, "ada"), at)
	}, func(variant string) []string {
		f, _ := find(variant)
		return f.listRoutes()
	})}
}

// service is the name of the service in gRPC and Connect requests.
const service = "tare.users.v1.UserService"

// listRoutes returns the routes of a face without the HTTP paths of users, nil if it has them.
func (f Face) listRoutes() (list []string) {
	if len(f.Protocols) == 0 || slices.Contains(f.Protocols, HTTP) {
		return nil
	}
	for _, method := range []string{"CreateUser", "GetUser", "UpdateUser", "DeleteUser", "ListUsers"} {
		list = append(list, "POST /"+service+"/"+method)
	}
	return list
}

// tryCommand returns a command that creates a user, with a new e-mail each time, in the first protocol that
// curl supports, or with grpcurl if there is none.
func (f Face) tryCommand(name string, at server.Address) string {
	body := fmt.Sprintf(`-d '{"name":"Ada","email":"%s-'$(date +%%s)'@example.org"}'`, name)
	const method = service + "/CreateUser"
	switch json := at.Curl() + " -H 'Content-Type: application/json' " + body + " " + at.URL(); {
	case len(f.Protocols) == 0, slices.Contains(f.Protocols, HTTP):
		return json + "/v1/users"
	case slices.Contains(f.Protocols, ConnectJSON):
		return json + "/" + method
	}
	plain := "-plaintext"
	if at.Encrypted {
		plain = "-insecure"
	}
	return fmt.Sprintf("grpcurl %s%s %s %s %s", plain, at.Header(), body, at.Host, method)
}

// withClients returns the program of h with the client of each variant.
func withClients(h server.Host, find func(variant string) (Face, string)) contender.Program {
	h.Kind = Kind
	h.HTTP2 = func(variant string) bool {
		f, _ := find(variant)
		return len(f.Protocols) > 0 && !slices.ContainsFunc(f.Protocols, func(p string) bool { return p != GRPC })
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
