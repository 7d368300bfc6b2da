import { Args } from '../oclif.js'

/** The argument of commands that take several users. */
export const namedUsers = {
  user: Args.string({
    required: true,
    description: 'the user: username, mail address or number; you can give several'
  })
}
