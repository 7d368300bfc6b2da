import { config } from '../../../config.js'

/** Bytes of a request with a file: Base64 takes a third more than the file, and the body has other parameters. */
export const fileBodyLimit = (): number => Math.min(Math.ceil(config().git.max_file_size * 1.4) + 65_536, 2 ** 29)
