// The parts of oclif that commands use. The entry of the package loads all of it, 60 modules more, at each start.
import * as Args from '@oclif/core/args'
import { Command } from '@oclif/core/command'
import * as Flags from '@oclif/core/flags'

export type { Config, Interfaces } from '@oclif/core'
export { Args, Command, Flags }
