package homelab

// allServices returns the services of the cluster, which never change.
func allServices() []Unit {
	const (
		deployment = "Deployment"
		stateful   = "StatefulSet"
		daemon     = "DaemonSet"
	)
	return []Unit{
		{Name: "grafana", Namespace: "monitoring", Kind: deployment, Replicas: 1, Ready: 1, Port: 3000},
		{Name: "home-assistant", Namespace: "home", Kind: stateful, Replicas: 1, Ready: 1, Port: 8123},
		{Name: "home-assistant-db", Namespace: "home", Kind: stateful, Replicas: 1, Ready: 1, Port: 5432},
		{Name: "mqtt-broker", Namespace: "home", Kind: deployment, Replicas: 1, Ready: 1, Port: 1883},
		{Name: "node-exporter", Namespace: "monitoring", Kind: daemon, Replicas: 3, Ready: 3, Port: 9100},
		{Name: "photos", Namespace: "media", Kind: deployment, Replicas: 2, Ready: 2, Port: 2342},
		{Name: "photos-cache", Namespace: "media", Kind: deployment, Replicas: 1, Ready: 0, Port: 6379},
		{Name: "prometheus", Namespace: "monitoring", Kind: stateful, Replicas: 1, Ready: 1, Port: 9090},
		{Name: "traefik", Namespace: "ingress", Kind: deployment, Replicas: 2, Ready: 2, Port: 443},
		{Name: "zigbee2mqtt", Namespace: "home", Kind: stateful, Replicas: 1, Ready: 1, Port: 8080},
	}
}
