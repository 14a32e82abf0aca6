package views

// Snapshots is where a snapshot is exported.
type Snapshots struct {
	State     State `json:"state"`
	Services  int   `json:"services"`
	Endpoints int   `json:"endpoints"`
	Held      int   `json:"held"`
	Proxies   int   `json:"proxies"`
	Configs   int   `json:"configs"`
	Steps     int   `json:"steps"`
	// Export is the URL of the file.
	Export string `json:"export"`
	// Curl is the command that fetches it, without any secret.
	Curl string `json:"curl"`
}
