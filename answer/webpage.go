package answer

// WebPage is the page of a dump that was served.
type WebPage struct {
	URL string `json:"url" doc:"the address that let a browser in, until the command ended"`
}

// HTMLReport is a report that was written.
type HTMLReport struct {
	File string `json:"file" doc:"the file that was written"`
	Size int64  `json:"size" doc:"bytes"`
}
