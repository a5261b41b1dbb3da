// Package protoconnect is what protoc-gen-connect-go makes of the service in
// users.proto.
package protoconnect

//go:generate go run -C ../../../../tools/protogen . -plugins protoc-gen-connect-go -from ../../apps/users/proto -package github.com/tarebench/tare/apps/users/proto ../../contenders/rpc/connect
