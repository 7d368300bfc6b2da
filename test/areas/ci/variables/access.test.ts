import { testAccess } from '../../../access/matrix.js'
import { access as variables } from './variables.access.js'

testAccess([variables])
