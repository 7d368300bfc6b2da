import { BadParameters } from '../../errors.js'
import { Flags } from '../oclif.js'

const EMPTY = 'the name of the file or folder is empty'

/**
 * A flag that names a file or folder. An empty name is a usage error: it would mean the current folder, which is not what
 * a user wants whose shell variable is unset.
 */
export const pathFlag = Flags.custom<string>({
  parse: async path => {
    if (path !== '') return path
    throw new BadParameters(EMPTY, EMPTY)
  }
})
