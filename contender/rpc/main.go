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

// Main serves or calls for the lab that started this process, or else serves what
// the command line asks for, and exits.
func Main(f Face) { contender.Main(f.program()) }

// All is Main of several faces in one program. A lab takes one of them for each
// workload, as a variant: a face goes by its name, and by name-variant where it is
// to be another than the first of its variants. Alone they are served side by side
// over one store, which flag -face says more about.
func All(faces map[string]Face) { contender.Main(all(faces)) }

func (f Face) program() contender.Program {
	find := func(variant string) (Face, string) { return f, variant }
	return program(server.Host{Apps: apps(find, f.Store), Variants: f.Variants}, find)
}

func all(faces map[string]Face) contender.Program {
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
	h.Apps = apps(find, store)
	return program(h, find)
}

// apps are the users service, by the face that goes with a variant.
func apps(find func(variant string) (Face, string), store users.Opener) server.Apps {
	return server.Apps{serving.App(func(o server.Options, s *users.Service) (server.Server, error) {
		var f Face
		f, o.Variant = find(o.Variant)
		return f.Serve(o, s)
	}, store, func(variant string, at server.Address) string {
		f, _ := find(variant)
		return f.try(cmp.Or(variant, "ada"), at)
	}, func(variant string) []string {
		f, _ := find(variant)
		return f.routes()
	})}
}

// service is the name of the service in gRPC and Connect.
const service = "tare.users.v1.UserService"

// routes are those of a face that has none of the paths of users over HTTP.
func (f Face) routes() (list []string) {
	if len(f.Protocols) == 0 || slices.Contains(f.Protocols, HTTP) {
		return nil
	}
	for _, method := range []string{"CreateUser", "GetUser", "UpdateUser", "DeleteUser", "ListUsers"} {
		list = append(list, "POST /"+service+"/"+method)
	}
	return list
}

// try creates a user, whose e-mail is another one each time, in the first
// protocol that curl speaks, or by grpcurl where there is none.
func (f Face) try(name string, at server.Address) string {
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

// program is h with the client that goes with each of its variants.
func program(h server.Host, find func(variant string) (Face, string)) contender.Program {
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
		return f.prepare(variant, w, bodies)
	}
	return p
}
