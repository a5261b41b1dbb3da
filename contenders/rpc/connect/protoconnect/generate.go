// Package protoconnect contains the code that protoc-gen-connect-go generates for
// the service in users.proto.
package protoconnect

//go:generate go run -C ../../../../tools/protogen . -plugins protoc-gen-connect-go -from ../../apps/users/proto -package github.com/tarebench/tare/apps/users/proto ../../contenders/rpc/connect
