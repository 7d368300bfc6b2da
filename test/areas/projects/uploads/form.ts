/** A multipart form with one file. */
export function formOf(name: string, content: string | Buffer, field = 'file') {
  const head = `--edge\r\ncontent-disposition: form-data; name="${field}"; filename="${name}"\r\n\r\n`
  return {
    payload: Buffer.concat([Buffer.from(head), Buffer.from(content), Buffer.from('\r\n--edge--\r\n')]),
    headers: { 'content-type': 'multipart/form-data; boundary=edge' }
  }
}
