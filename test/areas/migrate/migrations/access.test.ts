import { testAccess } from '../../../access/matrix.js'
import { access as migrations } from './migrations.access.js'

testAccess([migrations])
