import { BadParameters } from '../../errors.js'
import { Flags } from '../oclif.js'

const EMPTY = 'the name of a file or folder is empty'

/**
 * A flag that names a file or folder. An empty name is an error of usage: it would mean the current folder, which nobody
 * wants who gives an unset variable.
 */
export const pathFlag = Flags.custom<string>({
  parse: async path => {
    if (path !== '') return path
    throw new BadParameters(EMPTY, EMPTY)
  }
})
